/* VK_KHR_performance_query: what a dispatch cost, in every counter that the device has.
   performance_query double.spv */
#include "setup.h"

enum { NUMBERS = 4096 };

int main(int argc, char **argv) {
    if (argc != 2) return fprintf(stderr, "performance_query double.spv\n"), 1;
    VkPhysicalDevicePerformanceQueryFeaturesKHR features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PERFORMANCE_QUERY_FEATURES_KHR,
        .performanceCounterQueryPools = VK_TRUE};
    open_device(VK_KHR_PERFORMANCE_QUERY_EXTENSION_NAME, &features);
    INSTANCE_COMMAND(vkEnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR);
    INSTANCE_COMMAND(vkGetPhysicalDeviceQueueFamilyPerformanceQueryPassesKHR);
    DEVICE_COMMAND(vkAcquireProfilingLockKHR);
    DEVICE_COMMAND(vkReleaseProfilingLockKHR);

    /* Which counters there are: here all of them. */
    uint32_t count = 0;
    CHECK(vkEnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR(physical, 0, &count, NULL, NULL));
    VkPerformanceCounterKHR *counters = calloc(count, sizeof *counters);
    VkPerformanceCounterDescriptionKHR *texts = calloc(count, sizeof *texts);
    uint32_t *indices = calloc(count, sizeof *indices);
    for (uint32_t i = 0; i < count; i++) {
        counters[i].sType = VK_STRUCTURE_TYPE_PERFORMANCE_COUNTER_KHR;
        texts[i].sType = VK_STRUCTURE_TYPE_PERFORMANCE_COUNTER_DESCRIPTION_KHR;
        indices[i] = i;
    }
    CHECK(vkEnumeratePhysicalDeviceQueueFamilyPerformanceQueryCountersKHR(physical, 0, &count, counters, texts));

    /* On hardware as many passes as the counters need; on Tuff one. */
    VkQueryPoolPerformanceCreateInfoKHR performance = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_PERFORMANCE_CREATE_INFO_KHR,
        .counterIndexCount = count,
        .pCounterIndices = indices};
    uint32_t passes;
    vkGetPhysicalDeviceQueueFamilyPerformanceQueryPassesKHR(physical, &performance, &passes);
    VkQueryPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                       .pNext = &performance,
                                       .queryType = VK_QUERY_TYPE_PERFORMANCE_QUERY_KHR,
                                       .queryCount = 1};
    VkQueryPool pool;
    CHECK(vkCreateQueryPool(device, &pool_info, NULL, &pool));
    vkResetQueryPool(device, pool, 0, 1);

    /* The lock is held from recording to the end of what was recorded. */
    VkAcquireProfilingLockInfoKHR lock = {.sType = VK_STRUCTURE_TYPE_ACQUIRE_PROFILING_LOCK_INFO_KHR,
                                          .timeout = 1000000000};
    if (vkAcquireProfilingLockKHR(device, &lock) == VK_TIMEOUT)
        return fprintf(stderr, "another program has held the profiling lock for a second\n"), 1;
    void *numbers;
    VkBuffer buffer = make_buffer(NUMBERS * 4, &numbers);
    for (uint32_t i = 0; i < NUMBERS; i++) ((uint32_t *)numbers)[i] = i;
    VkPipeline pipeline = make_pipeline(argv[1], buffer, NULL);
    for (uint32_t pass = 0; pass < passes; pass++) {
        begin_commands();
        vkCmdBeginQuery(commands, pool, 0, 0);
        dispatch(pipeline, NUMBERS / 64);
        /* The query ends when the dispatch has. */
        VkMemoryBarrier all = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                               .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT};
        vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 1,
                             &all, 0, NULL, 0, NULL);
        vkCmdEndQuery(commands, pool, 0);
        VkPerformanceQuerySubmitInfoKHR of_pass = {.sType = VK_STRUCTURE_TYPE_PERFORMANCE_QUERY_SUBMIT_INFO_KHR,
                                                   .counterPassIndex = pass};
        submit(&of_pass);
    }
    vkReleaseProfilingLockKHR(device);

    VkPerformanceCounterResultKHR *results = calloc(count, sizeof *results);
    CHECK(vkGetQueryPoolResults(device, pool, 0, 1, count * sizeof *results, results, count * sizeof *results, 0));
    for (uint32_t i = 0; i < count; i++) {
        /* Tuff's are integers of 64 bits and floats of 64 bits; other drivers have others. */
        int64_t whole = 0;
        double real = 0;
        switch (counters[i].storage) {
        case VK_PERFORMANCE_COUNTER_STORAGE_INT32_KHR: whole = results[i].int32; break;
        case VK_PERFORMANCE_COUNTER_STORAGE_INT64_KHR: whole = results[i].int64; break;
        case VK_PERFORMANCE_COUNTER_STORAGE_UINT32_KHR: whole = results[i].uint32; break;
        case VK_PERFORMANCE_COUNTER_STORAGE_UINT64_KHR: whole = (int64_t)results[i].uint64; break;
        case VK_PERFORMANCE_COUNTER_STORAGE_FLOAT32_KHR: real = results[i].float32; break;
        default: real = results[i].float64;
        }
        if (whole) printf("%s: %" PRId64 "\n", texts[i].name, whole);
        if (real != 0) printf("%s: %.3f\n", texts[i].name, real);
    }
    return 0;
}
