/* Lets allocations of one library fail, and its mappings, files in memory and threads: the test loads this before the C
   library (LD_PRELOAD). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static char *from, *to;
static volatile long armed, all, only, count, failed;

static int find(struct dl_phdr_info *info, size_t size, void *name) {
    size_t n = strlen(info->dlpi_name), m = strlen(name);
    (void)size;
    if (n < m || strcmp(info->dlpi_name + n - m, name)) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = info->dlpi_phdr + i;
        if (p->p_type == PT_LOAD && (p->p_flags & PF_X)) {
            from = (char *)info->dlpi_addr + p->p_vaddr;
            to = from + p->p_memsz;
        }
    }
    return 1;
}

/* The `at`th allocation of a library whose path ends in `name` fails from now on, and if `and_on` all after it; 0: none.
   `maps`: mappings, files and threads alone are counted, and fail. */
void failing_malloc_arm(const char *name, long at, int and_on, int maps) {
    armed = 0;
    from = to = NULL;
    if (at) dl_iterate_phdr(find, (void *)name);
    count = failed = 0;
    all = and_on;
    only = maps;
    armed = at;
}

/* How many have failed; looks for the library again, for it may have been loaded meanwhile. */
long failing_malloc_failed(void) { return failed; }
long failing_malloc_count(void) { return count; }

static int fails_as(char *caller, int map) {
    if (!armed || (only && !map) || caller < from || caller >= to) return 0;
    long n = __sync_add_and_fetch(&count, 1);
    if (n < armed || (n > armed && !all)) return 0;
    __sync_add_and_fetch(&failed, 1);
    errno = ENOMEM;
    return 1;
}

static int fails(char *caller) { return fails_as(caller, 0); }
static int fails_map(char *caller) { return fails_as(caller, 1); }

#define CALLER ((char *)__builtin_return_address(0))
void *malloc(size_t n) { return fails(CALLER) ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t m) { return fails(CALLER) ? NULL : __libc_calloc(n, m); }
void *realloc(void *p, size_t n) { return fails(CALLER) ? NULL : __libc_realloc(p, n); }
void *aligned_alloc(size_t a, size_t n) { return fails(CALLER) ? NULL : __libc_memalign(a, n); }
void *memalign(size_t a, size_t n) { return fails(CALLER) ? NULL : __libc_memalign(a, n); }
int posix_memalign(void **out, size_t a, size_t n) {
    void *p = fails(CALLER) ? NULL : __libc_memalign(a, n);
    if (!p) return ENOMEM;
    *out = p;
    return 0;
}

static void *map(char *caller, void *at, size_t n, int prot, int flags, int fd, off_t offset) {
    return fails_map(caller) ? MAP_FAILED : (void *)syscall(SYS_mmap, at, n, prot, flags, fd, offset);
}
void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset) {
    return map(CALLER, at, n, prot, flags, fd, offset);
}
void *mmap64(void *at, size_t n, int prot, int flags, int fd, off_t offset) {
    return map(CALLER, at, n, prot, flags, fd, offset);
}
int mprotect(void *at, size_t n, int prot) { return fails_map(CALLER) ? -1 : syscall(SYS_mprotect, at, n, prot); }
int memfd_create(const char *name, unsigned flags) {
    return fails_map(CALLER) ? -1 : syscall(SYS_memfd_create, name, flags);
}
static int resize(char *caller, int fd, off_t n) { return fails_map(caller) ? -1 : syscall(SYS_ftruncate, fd, n); }
int ftruncate(int fd, off_t n) { return resize(CALLER, fd, n); }
int ftruncate64(int fd, off_t n) { return resize(CALLER, fd, n); }
int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*run)(void *), void *with) {
    static int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (!next) next = dlsym(RTLD_NEXT, "pthread_create");
    return fails_map(CALLER) ? EAGAIN : next(t, a, run, with);
}
