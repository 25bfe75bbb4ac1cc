/* Lets allocations of one library fail: the test loads this before the C library (LD_PRELOAD). */
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static char *from, *to;
static volatile long armed, all, count, failed;

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

/* The `at`th allocation of a library whose path ends in `name` fails from now on, and if `and_on` all after it; 0: none. */
void failing_malloc_arm(const char *name, long at, int and_on) {
    armed = 0;
    from = to = NULL;
    if (at) dl_iterate_phdr(find, (void *)name);
    count = failed = 0;
    all = and_on;
    armed = at;
}

/* How many have failed; looks for the library again, for it may have been loaded meanwhile. */
long failing_malloc_failed(void) { return failed; }
long failing_malloc_count(void) { return count; }

static int fails(char *caller) {
    if (!armed || caller < from || caller >= to) return 0;
    long n = __sync_add_and_fetch(&count, 1);
    if (n < armed || (n > armed && !all)) return 0;
    __sync_add_and_fetch(&failed, 1);
    errno = ENOMEM;
    return 1;
}

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
