/* A cheap upstream: one thread, epoll, keep-alive; /1k, /100k, /1m, /1g, /echo (the head that came, then how many bytes of
   content came and their FNV-1a sum), and anything else is 2 bytes. Argument: port. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEAD_BYTES 16384
#define CONNECTIONS 65536
#define ONE_MIB 3
#define ONE_GIB 4
#define ECHO 5
#define MIB 1048576

struct connection {
  char head[HEAD_BYTES];
  size_t got;
  size_t content;    /* bytes of request content still to come */
  int answering;     /* which reply follows the content; -1 none */
  unsigned sum;      /* of the content so far, where the request asks for it */
  size_t content_length;
  char *echo;        /* the request head, where the request asks for it */
  const char *out;   /* what is left of a reply */
  size_t left;
  int again;         /* how many more times the content of /1m follows */
};

static struct connection *connections[CONNECTIONS];
static char *replies[5];
static size_t lengths[5];
static int queue;

/* `bytes` of content, which comes `times` times. */
static void make_reply(int index, size_t bytes, size_t times) {
  replies[index] = malloc(bytes + 256);
  size_t head = (size_t)sprintf(replies[index],
    "HTTP/1.1 200 OK\r\nServer: upstream\r\nContent-Type: text/plain\r\nX-Internal: 1\r\nContent-Length: %zu\r\n\r\n", bytes * times);
  for (size_t at = 0; at < bytes; at++) replies[index][head + at] = "All work and no play makes a dull text. \n"[(at * 7 + at / 41) % 41];
  lengths[index] = head + bytes;
}

static void watch(int socket, int operation, unsigned events) {
  struct epoll_event event = {.events = events, .data.fd = socket};
  epoll_ctl(queue, operation, socket, &event);
}

static void finish(int socket) {
  close(socket);
  free(connections[socket]->echo);
  free(connections[socket]);
  connections[socket] = NULL;
}

/* 0: gone */
static int flush_reply(int socket, struct connection *one) {
  while (one->left > 0 || one->again > 0) {
    if (one->left == 0) {
      one->again--;
      one->left = MIB;
      one->out = replies[ONE_MIB] + lengths[ONE_MIB] - MIB;
    }
    ssize_t sent = write(socket, one->out, one->left);
    if (sent < 0) {
      if (errno != EAGAIN) return 0;
      watch(socket, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
      return 1;
    }
    one->out += sent;
    one->left -= (size_t)sent;
  }
  return 1;
}

static int answer_to(const char *head) {
  const char *target = strchr(head, ' ');
  if (!target) return 2;
  if (strncmp(target + 1, "/1k", 3) == 0) return 0;
  if (strncmp(target + 1, "/100k", 5) == 0) return 1;
  if (strncmp(target + 1, "/1m", 3) == 0) return ONE_MIB;
  if (strncmp(target + 1, "/1g", 3) == 0) return ONE_GIB;
  return strncmp(target + 1, "/echo", 5) == 0 ? ECHO : 2;
}

static void take_head(struct connection *one, char *end) {
  *end = 0;
  one->answering = answer_to(one->head);
  char *length = strcasestr(one->head, "\r\ncontent-length:");
  one->content = one->content_length = length ? strtoul(length + 17, NULL, 10) : 0;
  if (one->answering == ECHO) {
    free(one->echo);
    one->echo = strdup(one->head);
    one->sum = 2166136261u;
  }
  size_t head = (size_t)(end + 4 - one->head);
  memmove(one->head, one->head + head, one->got - head);
  one->got -= head;
}

static void take_content(struct connection *one) {
  size_t eaten = one->content < one->got ? one->content : one->got;
  if (one->answering == ECHO)
    for (size_t at = 0; at < eaten; at++) one->sum = (one->sum ^ (unsigned char)one->head[at]) * 16777619u;
  memmove(one->head, one->head + eaten, one->got - eaten);
  one->got -= eaten;
  one->content -= eaten;
}

static void begin_reply(struct connection *one) {
  if (one->answering == ECHO) {
    char told[64];
    sprintf(told, "\r\n\r\n%zu %08x\n", one->content_length, one->sum);
    size_t content = strlen(one->echo) + strlen(told);
    char *reply = malloc(content + 256);
    size_t head = (size_t)sprintf(reply, "HTTP/1.1 200 OK\r\nContent-Type: text/echo\r\nContent-Length: %zu\r\n\r\n", content);
    sprintf(reply + head, "%s%s", one->echo, told);
    free(one->echo);
    one->echo = reply;
    one->out = reply;
    one->left = head + content;
  } else {
    one->out = replies[one->answering];
    one->left = lengths[one->answering];
    one->again = one->answering == ONE_GIB ? 1023 : 0;
  }
  one->answering = -1;
}

static int serve(int socket, struct connection *one) {
  ssize_t read_now = read(socket, one->head + one->got, HEAD_BYTES - 1 - one->got);
  if (read_now == 0 || (read_now < 0 && errno != EAGAIN)) return 0;
  if (read_now > 0) one->got += (size_t)read_now;
  while (one->left == 0) {
    if (one->answering < 0) {
      one->head[one->got] = 0;
      char *end = memmem(one->head, one->got, "\r\n\r\n", 4);
      if (!end) return one->got < HEAD_BYTES - 1;
      take_head(one, end);
    }
    take_content(one);
    if (one->content > 0) return 1;
    begin_reply(one);
    if (!flush_reply(socket, one)) return 0;
    if (one->got == 0) break;
  }
  return 1;
}

int main(int count, char **arguments) {
  (void)count;
  make_reply(0, 1024, 1);
  make_reply(1, 102400, 1);
  make_reply(2, 2, 1);
  make_reply(ONE_MIB, MIB, 1);
  make_reply(ONE_GIB, MIB, 1024);
  signal(SIGPIPE, SIG_IGN);
  int yes = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(arguments[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 4096)) return perror("upstream"), 1;
  queue = epoll_create1(0);
  watch(listener, EPOLL_CTL_ADD, EPOLLIN);
  for (struct epoll_event events[256];;) {
    int ready = epoll_wait(queue, events, 256, -1);
    for (int index = 0; index < ready; index++) {
      int socket = events[index].data.fd;
      if (socket == listener) {
        int made = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
        if (made < 0) continue;
        if (made >= CONNECTIONS) { close(made); continue; }
        setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        connections[made] = calloc(1, sizeof(struct connection));
        connections[made]->answering = -1;
        watch(made, EPOLL_CTL_ADD, EPOLLIN);
        continue;
      }
      struct connection *one = connections[socket];
      if (events[index].events & EPOLLOUT) {
        if (!flush_reply(socket, one)) { finish(socket); continue; }
        if (one->left == 0) watch(socket, EPOLL_CTL_MOD, EPOLLIN);
      }
      if (one->left == 0 && !serve(socket, one)) finish(socket);
    }
  }
}
