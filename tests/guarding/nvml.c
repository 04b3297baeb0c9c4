/* Answers as NVIDIA's management library does, from a file that a test writes: the bytes in use on the first
   of two GPUs, then a line for each process on it: its number, and its bytes (-1: the driver does not say). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { unsigned long long total, free, used; } Memory;
#ifdef OLD
typedef struct { unsigned int pid; unsigned long long used; } Process;
#define LIST(kind) nvmlDeviceGet##kind##RunningProcesses
#else
typedef struct { unsigned int pid; unsigned long long used; unsigned int instances[2]; } Process;
#define LIST(kind) nvmlDeviceGet##kind##RunningProcesses_v3
#endif

enum { SUCCESS = 0, TOO_SMALL = 7, NO_DRIVER = 9, DEVICES = 2 };
static int devices[DEVICES];

static FILE *state(void) { return fopen(getenv("FAKE_NVML"), "r"); }

int nvmlInit_v2(void) { return getenv("FAKE_NVML") ? SUCCESS : NO_DRIVER; }

int nvmlDeviceGetCount_v2(unsigned int *count) { *count = DEVICES; return SUCCESS; }

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **device) {
    *device = &devices[index];
    return SUCCESS;
}

int nvmlDeviceGetName(void *device, char *name, unsigned int length) {
    snprintf(name, length, "GPU number %d", (int)((int *)device - devices));
    return SUCCESS;
}

int nvmlSystemGetDriverVersion(char *version, unsigned int length) {
    snprintf(version, length, "550.54");
    return SUCCESS;
}

int nvmlDeviceGetMemoryInfo(void *device, Memory *memory) {
    FILE *file = state();
    memset(memory, 0, sizeof *memory);
    memory->total = 8000000000ULL;
    if (file && device == devices && fscanf(file, "%llu", &memory->used) != 1) memory->used = 0;
    if (file) fclose(file);
    return SUCCESS;
}

int LIST(Compute)(void *device, unsigned int *count, Process *rows) {
    FILE *file = state();
    unsigned int room = *count, found = 0, pid;
    unsigned long long skipped;
    long long used;
    if (!file || device != devices || fscanf(file, "%llu", &skipped) != 1) {
        if (file) fclose(file);
        *count = 0;
        return SUCCESS;
    }
    while (fscanf(file, "%u %lld", &pid, &used) == 2) {
        if (found < room) { rows[found].pid = pid; rows[found].used = (unsigned long long)used; }
        found++;
    }
    fclose(file);
    *count = found;
    return found > room ? TOO_SMALL : SUCCESS;
}

int LIST(Graphics)(void *device, unsigned int *count, Process *rows) { return LIST(Compute)(device, count, rows); }
