/* Preloaded into wrk. Every name is 127.0.0.1, so that the server name of TLS is the site's; with SOURCES=n connections
   come from n loopback addresses in turn, from 127.0.1.1 on. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>

#ifndef IP_BIND_ADDRESS_NO_PORT
#define IP_BIND_ADDRESS_NO_PORT 24
#endif

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
  static int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
  if (!real) real = (int (*)(const char *, const char *, const struct addrinfo *, struct addrinfo **))dlsym(RTLD_NEXT, "getaddrinfo");
  return real(name ? "127.0.0.1" : name, service, hints, found);
}

int connect(int socket, const struct sockaddr *to, socklen_t length) {
  static int (*real)(int, const struct sockaddr *, socklen_t);
  static unsigned turn, sources;
  if (!real) {
    real = (int (*)(int, const struct sockaddr *, socklen_t))dlsym(RTLD_NEXT, "connect");
    sources = (unsigned)strtoul(getenv("SOURCES") ? getenv("SOURCES") : "0", NULL, 10);
  }
  if (sources > 0 && to->sa_family == AF_INET) {
    unsigned now = turn++ % sources;
    int yes = 1;
    struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000100u + (now / 250) * 256u + 1u + now % 250)};
    setsockopt(socket, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes);
    bind(socket, (struct sockaddr *)&from, sizeof from);
  }
  return real(socket, to, length);
}
