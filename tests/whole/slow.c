/* Loaded before libc: lets a process wait at every sync for as many milliseconds as the file $SLOW_FILE says. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void be_slow(void) {
    int milliseconds = 0;
    FILE *file = fopen(getenv("SLOW_FILE"), "r");
    if (file) {
        if (fscanf(file, "%d", &milliseconds) != 1) milliseconds = 0;
        fclose(file);
    }
    struct timespec left = {milliseconds / 1000, (milliseconds % 1000) * 1000000L};
    while (nanosleep(&left, &left)) {}
}

int fdatasync(int file) {
    be_slow();
    return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(file);
}

int fsync(int file) {
    be_slow();
    return ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(file);
}
