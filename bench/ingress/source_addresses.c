/* Preloaded into a load generator: each connection comes from another loopback address, 127.0.1.1 to 127.0.4.250. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <sys/socket.h>

#ifndef IP_BIND_ADDRESS_NO_PORT
#define IP_BIND_ADDRESS_NO_PORT 24
#endif

int connect(int socket, const struct sockaddr *to, socklen_t length) {
  static int (*real)(int, const struct sockaddr *, socklen_t);
  static unsigned turn;
  if (!real) real = (int (*)(int, const struct sockaddr *, socklen_t))dlsym(RTLD_NEXT, "connect");
  if (to->sa_family == AF_INET) {
    unsigned now = __atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED) % 1000;
    int yes = 1;
    struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0x7f000100u + (now / 250) * 256u + 1u + now % 250)};
    setsockopt(socket, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes);
    bind(socket, (struct sockaddr *)&from, sizeof from);
  }
  return real(socket, to, length);
}
