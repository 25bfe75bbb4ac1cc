/* A plugin of QEMU's that counts the instructions that a program executes, all threads together. QEMU's header is in no package of
 * Debian 12: these are the parts of its interface, version 1, that are used. It says a line `instructions N` on stderr at the end. */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
enum { NO_REGISTERS = 0 };

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, void (*)(unsigned, void *), int, void *);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, void *), void *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);

enum { THREADS = 1024 };
/* A line of cache each: threads run side by side. */
static struct { uint64_t n, rest[7]; } counts[THREADS];

static void executed(unsigned thread, void *instructions)
{
    counts[thread % THREADS].n += (uintptr_t)instructions;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_cb(tb, executed, NO_REGISTERS, (void *)(uintptr_t)qemu_plugin_tb_n_insns(tb));
}

static void ended(qemu_plugin_id_t id, void *data)
{
    (void)id, (void)data;
    uint64_t sum = 0;
    for (unsigned i = 0; i < THREADS; i++)
        sum += counts[i].n;
    fprintf(stderr, "instructions %" PRIu64 "\n", sum);
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
    (void)info, (void)argc, (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
