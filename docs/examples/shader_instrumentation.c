/* VK_ARM_shader_instrumentation: what each basic block of a compute shader cost.
   shader_instrumentation double.spv */
#include "arm.h"
#include "setup.h"

enum { NUMBERS = 4096 };

int main(int argc, char **argv) {
    if (argc != 2) return fprintf(stderr, "shader_instrumentation double.spv\n"), 1;
    VkPhysicalDeviceShaderInstrumentationFeaturesARM features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INSTRUMENTATION_FEATURES_ARM,
        .shaderInstrumentation = VK_TRUE};
    open_device(VK_ARM_SHADER_INSTRUMENTATION_EXTENSION_NAME, &features);
    INSTANCE_COMMAND(vkEnumeratePhysicalDeviceShaderInstrumentationMetricsARM);
    DEVICE_COMMAND(vkCreateShaderInstrumentationARM);
    DEVICE_COMMAND(vkDestroyShaderInstrumentationARM);
    DEVICE_COMMAND(vkCmdBeginShaderInstrumentationARM);
    DEVICE_COMMAND(vkCmdEndShaderInstrumentationARM);
    DEVICE_COMMAND(vkGetShaderInstrumentationValuesARM);

    uint32_t metrics = 0;
    CHECK(vkEnumeratePhysicalDeviceShaderInstrumentationMetricsARM(physical, &metrics, NULL));
    VkShaderInstrumentationMetricDescriptionARM *texts = calloc(metrics, sizeof *texts);
    for (uint32_t i = 0; i < metrics; i++)
        texts[i].sType = VK_STRUCTURE_TYPE_SHADER_INSTRUMENTATION_METRIC_DESCRIPTION_ARM;
    CHECK(vkEnumeratePhysicalDeviceShaderInstrumentationMetricsARM(physical, &metrics, texts));

    /* Only pipelines that are made with the flag are counted. */
    VkPipelineCreateFlags2CreateInfoKHR flags = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CREATE_FLAGS_2_CREATE_INFO_KHR,
                                                 .flags = VK_PIPELINE_CREATE_2_INSTRUMENT_SHADERS_BIT_ARM};
    void *numbers;
    VkBuffer buffer = make_buffer(NUMBERS * 4, &numbers);
    for (uint32_t i = 0; i < NUMBERS; i++) ((uint32_t *)numbers)[i] = i;
    VkPipeline pipeline = make_pipeline(argv[1], buffer, &flags);

    VkShaderInstrumentationCreateInfoARM info = {.sType = VK_STRUCTURE_TYPE_SHADER_INSTRUMENTATION_CREATE_INFO_ARM};
    VkShaderInstrumentationARM instrumentation;
    CHECK(vkCreateShaderInstrumentationARM(device, &info, NULL, &instrumentation));
    begin_commands();
    vkCmdBeginShaderInstrumentationARM(commands, instrumentation);
    dispatch(pipeline, NUMBERS / 64);
    vkCmdEndShaderInstrumentationARM(commands);
    submit(NULL);

    /* A row for each block: a header, and as many integers of 64 bits as there are metrics. */
    uint32_t rows = 0;
    CHECK(vkGetShaderInstrumentationValuesARM(device, instrumentation, &rows, NULL, 0));
    size_t size = sizeof(VkShaderInstrumentationMetricDataHeaderARM) + metrics * sizeof(uint64_t);
    char *values = calloc(rows, size);
    CHECK(vkGetShaderInstrumentationValuesARM(device, instrumentation, &rows, values, 0));
    for (uint32_t r = 0; r < rows; r++) {
        VkShaderInstrumentationMetricDataHeaderARM header;
        memcpy(&header, values + r * size, sizeof header);
        printf("block %u:\n", header.basicBlockIndex);
        for (uint32_t m = 0; m < metrics; m++) {
            uint64_t value;
            memcpy(&value, values + r * size + sizeof header + m * sizeof value, sizeof value);
            printf("    %s: %" PRIu64 "\n", texts[m].name, value);
        }
    }
    vkDestroyShaderInstrumentationARM(device, instrumentation, NULL);
    return 0;
}
