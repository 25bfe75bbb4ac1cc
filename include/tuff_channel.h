/*
 * Tuff's channel: what the modelled GPU did, read by a layer or a tool in the same process while the program runs.
 *
 * The library exports one function, found with dlsym. The Vulkan loader opens drivers with RTLD_LOCAL, so a layer finds
 * the library among those that are loaded (dl_iterate_phdr, a name that ends in "/libvulkan_tuff.so") and opens it again
 * with dlopen(path, RTLD_NOW | RTLD_NOLOAD):
 *
 *     const TuffChannel *(*get)(uint32_t) = dlsym(library, "tuff_channel");
 *     const TuffChannel *channel = get ? get(TUFF_CHANNEL_VERSION) : NULL;
 *
 * Reading changes nothing of what the program sees: no results, no counts, no modelled times. Every function may be called
 * from any thread; one reader is used by one thread at a time. Strings are UTF-8 and end with 0.
 */
#ifndef TUFF_CHANNEL_H
#define TUFF_CHANNEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A later version adds members at the ends of structs alone, so that a reader of version n works with all from n on. */
#define TUFF_CHANNEL_VERSION 1u

/* All devices of the process; no device, no queue, no frame. */
#define TUFF_ALL UINT32_MAX
#define TUFF_NONE UINT32_MAX
#define TUFF_NO_FRAME UINT64_MAX

typedef union TuffValue {
    uint64_t u;
    double f;
} TuffValue;

enum { TUFF_TYPE_UINT64 = 0, TUFF_TYPE_FLOAT64 = 1 };

/* A counter of the catalogue (docs/counters.md). */
typedef struct TuffCounter {
    uint32_t id;             /* libGPUCounters' StableID; from 0x10000000 Tuff's own */
    uint32_t type;           /* TUFF_TYPE_*: which member of its TuffValue it is */
    const char *name;        /* "Fragment warps" */
    const char *machine;     /* "MaliFragWarp" */
    const char *unit;        /* "warps" */
    const char *block;       /* "Shader core": the groups of the catalogue */
    const char *description;
} TuffCounter;

enum {
    TUFF_KIND_DISPATCH = 0,
    TUFF_KIND_RENDER_PASS = 1,
    TUFF_KIND_TRANSFER = 2, /* copies, blits, resolves, fills and clears outside render passes */
    TUFF_KIND_MARK = 3,     /* a place in a command buffer: see TUFF_MARK_PREFIX */
    TUFF_KIND_TRACE_RAYS = 4 /* a launch of a ray tracing pipeline; a later version may add kinds */
};

/*
 * vkCmdInsertDebugUtilsLabelEXT with a name that begins so is a mark: readers get a record with that name, when the GPU
 * has reached it, whose events are what the queue has counted up to it. The difference of two marks of a queue is what a
 * VK_KHR_performance_query between the two would count, inside render passes too (the record comes at the pass's end).
 */
#define TUFF_MARK_PREFIX "tuff.mark:"

typedef struct TuffSpan {
    uint64_t begin; /* modelled time, ns: the clock of the device's timestamps */
    uint64_t end;
} TuffSpan;

/* A workload that has finished, or a mark. Pointers hold until the reader's next read or close. */
typedef struct TuffRecord {
    uint64_t order;       /* among the process's records, from 0: in order within each queue */
    uint64_t queue_order; /* among its queue's records, from 0: the same on every run */
    uint64_t submission;  /* the queue's how manieth submitted batch (VkSubmitInfo2) it was in, from 0 */
    uint32_t device;      /* in order of creation, from 0 */
    uint32_t queue;       /* the device's how manieth queue */
    uint32_t kind;        /* TUFF_KIND_* */
    uint32_t views;       /* of a multiview render pass; else 1 */
    uint64_t frame;       /* VkFrameBoundaryEXT's number, or counted by presents; TUFF_NO_FRAME: of none */
    TuffSpan span;        /* first begin and last end of its phases; a mark: twice the time of the mark */
    TuffSpan binning;     /* phases of a render pass; else zeros */
    TuffSpan main;
    const char *label;    /* VK_EXT_debug_utils labels around it, outermost first, '/' between them */
    const char *name;     /* entry point and workgroups; size and attachments; kind of transfer; the mark's name */
    const uint64_t *events; /* TuffChannel.event_count whole numbers, which may be added and subtracted */
} TuffRecord;

typedef struct TuffReader TuffReader;

enum {
    TUFF_READ_RECORD = 0,  /* *record is filled */
    TUFF_READ_NOTHING = 1, /* none came in time */
    TUFF_READ_ENDED = 2,   /* the reader is stopped, and everything before that was read */
    TUFF_READ_ERROR = 3    /* a null pointer */
};

typedef struct TuffChannel {
    uint32_t version; /* the newest that the library speaks */
    uint32_t size;    /* bytes of this struct */
    const char *gpu;  /* the modelled GPU (TUFF_GPU) */

    uint32_t counter_count;
    uint32_t event_count;
    const TuffCounter *counters;    /* in the catalogue's order */
    const char *const *event_names;

    /* The catalogue's counters of these events: `values` gets counter_count of them. Cycles of sums are those that the
     * model gives such work by itself. */
    void (*evaluate)(const uint64_t *events, TuffValue *values);

    /* The number of a VkDevice or VkQueue (the driver's own handle, as the next layer has it); TUFF_NONE if it is none.
     * A queue's is within its device. */
    uint32_t (*device_number)(const void *vk_device);
    uint32_t (*queue_number)(const void *vk_queue);

    /* What a device (or TUFF_ALL of them, also those that are destroyed) has done since the process began: finished
     * workloads, event_count numbers. 0, or -1 where there is no such device. */
    int (*totals)(uint32_t device, uint64_t *events);

    /* A reader that keeps up to `capacity` records (1 to 1048576; what lies outside is brought inside) until they are read;
     * the oldest are lost when more come. It is stopped. NULL when memory is short. */
    TuffReader *(*open)(uint32_t capacity);
    void (*close)(TuffReader *reader);
    /* Between start and stop the reader gets records: of workloads that finish after start has returned. 0, or -1 for NULL. */
    int (*start)(TuffReader *reader);
    int (*stop)(TuffReader *reader);
    /* The next record: at once (timeout 0), within so many nanoseconds, or whenever one comes (UINT64_MAX). stop, from
     * another thread, ends the wait. A TUFF_READ_*. */
    int (*read)(TuffReader *reader, TuffRecord *record, uint64_t timeout_ns);
    /* Records that were lost for want of room, since open. */
    uint64_t (*lost)(const TuffReader *reader);
} TuffChannel;

/* NULL when the library does not speak this version. The table is there until the library is unloaded. */
const TuffChannel *tuff_channel(uint32_t version);

#ifdef __cplusplus
}
#endif
#endif
