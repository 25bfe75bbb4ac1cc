// What a machine's threads do together, beside what one does alone: the limit of any program's speed-up on it.
// cc -O2 -pthread machine.c -o machine && ./machine
#include <immintrin.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int kind;
static long turns;
static pthread_barrier_t begin;
static volatile float some_float;
static volatile unsigned long some_word;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

__attribute__((target("avx512f"))) static void fma512(void) {
    __m512 a[8], m = _mm512_set1_ps(0.999f), c = _mm512_set1_ps(0.1f);
    for (int i = 0; i < 8; i++) a[i] = _mm512_set1_ps(i);
    for (long t = 0; t < turns; t++)
        for (int i = 0; i < 8; i++) a[i] = _mm512_fmadd_ps(a[i], m, c);
    float sum = 0;
    for (int i = 0; i < 8; i++) sum += _mm512_reduce_add_ps(a[i]);
    some_float = sum;
}

static void integers(void) {
    unsigned long x = 1, y = 2, z = 3, w = 4;
    for (long t = 0; t < 4 * turns; t++) {
        x = x * 6364136223846793005ul + 1;
        y ^= y << 13;
        y ^= y >> 7;
        z += w ^ x;
        w = (w >> 3) + z;
    }
    some_word = x + y + z + w;
}

static void copies(long bytes) {
    char *a = aligned_alloc(64, bytes), *b = aligned_alloc(64, bytes);
    memset(a, 1, bytes);
    memset(b, 2, bytes);
    pthread_barrier_wait(&begin);
    for (long t = 0; t < turns; t++) memcpy(t & 1 ? a : b, t & 1 ? b : a, bytes);
    some_word = a[5];
    free(a);
    free(b);
}

static void *run(void *unused) {
    (void)unused;
    if (kind < 2) pthread_barrier_wait(&begin);
    switch (kind) {
    case 0: fma512(); break;
    case 1: integers(); break;
    case 2: copies(16 << 10); break;
    case 3: copies(700 << 10); break;
    case 4: copies(32 << 20); break;
    }
    return 0;
}

int main(void) {
    const char *names[] = {"multiply-add, AVX-512", "integers", "copies of 16 KiB", "copies of 700 KiB", "copies of 32 MiB"};
    const long all[] = {40000000, 20000000, 600000, 6000, 60};
    int cpus = sysconf(_SC_NPROCESSORS_ONLN);
    for (kind = !__builtin_cpu_supports("avx512f"); kind < 5; kind++) {
        turns = all[kind];
        printf("%-22s", names[kind]);
        double one = 0;
        for (int threads = 1; threads <= cpus; threads *= 2) {
            double best = 1e9;
            for (int round = 0; round < 3; round++) {
                pthread_t *t = calloc(threads, sizeof *t);
                pthread_barrier_init(&begin, 0, threads + 1);
                for (int i = 0; i < threads; i++) pthread_create(t + i, 0, run, 0);
                pthread_barrier_wait(&begin);
                double from = now();
                for (int i = 0; i < threads; i++) pthread_join(t[i], 0);
                double took = now() - from;
                if (took < best) best = took;
                free(t);
            }
            if (threads == 1) one = best;
            printf("  %2d: %5.2f", threads, one * threads / best);
        }
        printf("\n");
        fflush(stdout);
    }
    return 0;
}
