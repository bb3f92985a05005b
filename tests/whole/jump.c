/* Loaded before libc: sets the wall clock of a process off by as many seconds as the file $JUMP_FILE says, a long in its first bytes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long offset(void) {
    static volatile long *seconds;
    if (!seconds) {
        int file = open(getenv("JUMP_FILE"), O_RDONLY);
        void *shared = mmap(0, 4096, PROT_READ, MAP_SHARED, file, 0);
        if (file < 0 || shared == MAP_FAILED) abort();
        close(file);
        seconds = shared;
    }
    return *seconds;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int status = real(clock, now);
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) now->tv_sec += offset();
    return status;
}

int gettimeofday(struct timeval *now, void *zone) {
    struct timespec found;
    clock_gettime(CLOCK_REALTIME, &found);
    now->tv_sec = found.tv_sec;
    now->tv_usec = found.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *now) {
    struct timespec found;
    clock_gettime(CLOCK_REALTIME, &found);
    if (now) *now = found.tv_sec;
    return found.tv_sec;
}
