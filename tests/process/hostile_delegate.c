/* A delegate library that tries, while it is loaded, what a taken-over worker would try; each answer is told
 * through the error reporter as "name=errno;", 0 if it worked. Nothing that it does harms anybody: signals are
 * number 0, and the process that it traces is one that was started for it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char** keys;
static char** values;
static size_t count;

static const char* option(const char* name) {
  for (size_t i = 0; i < count; i++)
    if (!strcmp(keys[i], name)) return values[i];
  return "";
}

static long number(const char* name) { return atol(option(name)); }

static long done(long result) { return result < 0 ? errno : 0; }

static long opened(const char* path, int flags) {
  int file = open(path, flags, 0600);
  if (file >= 0) close(file);
  return done(file);
}

static long read_memory_file(void) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%ld/mem", number("parent"));
  return opened(path, O_RDWR);
}

static long read_memory(void) {
  char held[8];
  struct iovec here = {held, 8}, there = {(void*)number("address"), 8};
  return done(syscall(SYS_process_vm_readv, number("parent"), &here, 1L, &there, 1L, 0L));
}

static long connect_tcp(void) {
  struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons(number("port"))};
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int end = socket(AF_INET, SOCK_STREAM, 0);
  if (end < 0) return errno;
  long result = done(connect(end, (struct sockaddr*)&place, sizeof place));
  close(end);
  return result;
}

static long open_pair(void) {
  int ends[2];
  long result = done(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
  if (!result) close(ends[0]), close(ends[1]);
  return result;
}

static long fork_once(void) {
  long child = syscall(SYS_clone, 17L /* SIGCHLD */, 0L, 0L, 0L, 0L);
  if (child == 0) _exit(0);
  if (child > 0) waitpid((pid_t)child, NULL, 0);
  return done(child);
}

static long exec_once(void) {
  char *words[] = {"true", NULL}, *nothing[] = {NULL};
  long child = syscall(SYS_clone, 17L, 0L, 0L, 0L, 0L);
  if (child > 0) {
    int status = 0;
    waitpid((pid_t)child, &status, 0);
    return WEXITSTATUS(status);
  }
  execve("/bin/true", words, nothing); /* in the worker itself, if there was no child */
  if (child == 0) _exit(errno);
  return errno;
}

static long trace(void) {
  long victim = number("victim");
  if (syscall(SYS_ptrace, 0x4206L /* SEIZE */, victim, 0L, 0L) < 0) return errno;
  syscall(SYS_ptrace, 0x4207L /* INTERRUPT */, victim, 0L, 0L);
  waitpid((pid_t)victim, NULL, __WALL);
  syscall(SYS_ptrace, 17L /* DETACH */, victim, 0L, 0L);
  return 0;
}

static long other_limits(void) {
  long limit[2] = {-1, -1};
  return done(syscall(SYS_prlimit64, number("victim"), 0L /* RLIMIT_CPU */, limit, 0L));
}

static long fill_log(void) {
  static char page[1 << 16];
  for (int i = 0; i < 20 << 4; i++)
    if (write(2, page, sizeof page) != (long)sizeof page) return errno ? errno : EFBIG;
  return 0;
}

static long closing(long file) {
  if (file >= 0) close((int)file);
  return done(file);
}

static char told[4096];

static void tell(const char* name, long result) {
  size_t used = strlen(told);
  snprintf(told + used, sizeof told - used, "%s=%ld;", name, result);
}

void* tflite_plugin_create_delegate(char** k, char** v, size_t n, void (*report)(const char*)) {
  char ring[256] = {0};
  keys = k, values = v, count = n;
  tell("read /etc/passwd", opened("/etc/passwd", O_RDONLY));
  tell("read a file of the user", opened(option("secret"), O_RDONLY));
  tell("write a new file", opened(option("new"), O_WRONLY | O_CREAT));
  tell("write to a file", opened(option("secret"), O_WRONLY));
  tell("change a file's mode", done(chmod(option("secret"), 0600)));
  tell("rename a file", done(rename(option("movable"), option("movable"))));
  tell("open the parent's memory", read_memory_file());
  tell("read the parent's memory", read_memory());
  tell("signal the parent", done(syscall(SYS_kill, number("parent"), 0L)));
  tell("signal everybody", done(syscall(SYS_kill, -1L, 0L)));
  tell("signal a thread of the parent", done(syscall(SYS_tgkill, number("parent"), number("parent"), 0L)));
  tell("set another's limits", other_limits());
  tell("connect by TCP", connect_tcp());
  tell("open a Unix socket", closing(socket(AF_UNIX, SOCK_STREAM, 0)));
  tell("open a pair of sockets", open_pair());
  tell("fork", fork_once());
  tell("exec", exec_once());
  tell("trace another", trace());
  tell("io_uring", closing(syscall(SYS_io_uring_setup, 2L, ring)));
  tell("userfaultfd", closing(syscall(SYS_userfaultfd, 0L)));
  tell("memfd_create", closing(syscall(SYS_memfd_create, "x", 0L)));
  tell("pidfd_open", closing(syscall(SYS_pidfd_open, number("parent"), 0L)));
  tell("fill memory through stderr", fill_log());
  /* And what has to work. */
  tell("signal itself", done(syscall(SYS_tgkill, (long)getpid(), (long)getpid(), 0L)));
  tell("read its own status", opened("/proc/self/status", O_RDONLY));
  report(told);
  return NULL;
}

void tflite_plugin_destroy_delegate(void* delegate) { (void)delegate; }
