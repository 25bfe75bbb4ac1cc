/* VK_ARM_performance_counters_by_region: a map of what each region of a render pass cost, as numbers in rows.
   counters_by_region triangle.vert.spv triangle.frag.spv */
#include "arm.h"
#include "setup.h"

enum { WIDTH = 320, HEIGHT = 192 };
static const char *COUNTER = "Main phase active cycles";

static VkImageView make_target(VkImage *image) {
    VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                              .imageType = VK_IMAGE_TYPE_2D,
                              .format = VK_FORMAT_R8G8B8A8_UNORM,
                              .extent = {WIDTH, HEIGHT, 1},
                              .mipLevels = 1,
                              .arrayLayers = 1,
                              .samples = VK_SAMPLE_COUNT_1_BIT,
                              .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT};
    CHECK(vkCreateImage(device, &info, NULL, image));
    VkMemoryRequirements needs;
    vkGetImageMemoryRequirements(device, *image, &needs);
    CHECK(vkBindImageMemory(device, *image, memory_for(needs, 0), 0));
    VkImageViewCreateInfo view_info = {.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                                       .image = *image,
                                       .viewType = VK_IMAGE_VIEW_TYPE_2D,
                                       .format = info.format,
                                       .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    VkImageView view;
    CHECK(vkCreateImageView(device, &view_info, NULL, &view));
    return view;
}

/* Draws a triangle without vertex buffers. */
static VkPipeline make_graphics_pipeline(char **paths) {
    VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
    VkPipelineRenderingCreateInfo rendering = {.sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
                                               .colorAttachmentCount = 1,
                                               .pColorAttachmentFormats = &format};
    VkPipelineShaderStageCreateInfo stages[2];
    for (int i = 0; i < 2; i++)
        stages[i] = (VkPipelineShaderStageCreateInfo){.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                      .stage = i ? VK_SHADER_STAGE_FRAGMENT_BIT : VK_SHADER_STAGE_VERTEX_BIT,
                                                      .module = make_module(paths[i]),
                                                      .pName = "main"};
    VkPipelineVertexInputStateCreateInfo vertices = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST};
    VkViewport viewport = {0, 0, WIDTH, HEIGHT, 0, 1};
    VkRect2D scissor = {{0, 0}, {WIDTH, HEIGHT}};
    VkPipelineViewportStateCreateInfo views = {.sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
                                               .viewportCount = 1,
                                               .pViewports = &viewport,
                                               .scissorCount = 1,
                                               .pScissors = &scissor};
    VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO, .lineWidth = 1};
    VkPipelineMultisampleStateCreateInfo samples = {.sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
                                                    .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT};
    VkPipelineColorBlendAttachmentState plain = {.colorWriteMask = 15};
    VkPipelineColorBlendStateCreateInfo blend = {.sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
                                                 .attachmentCount = 1,
                                                 .pAttachments = &plain};
    VkPipelineLayoutCreateInfo layout_info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    CHECK(vkCreatePipelineLayout(device, &layout_info, NULL, &layout));
    VkGraphicsPipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
                                         .pNext = &rendering,
                                         .stageCount = 2,
                                         .pStages = stages,
                                         .pVertexInputState = &vertices,
                                         .pInputAssemblyState = &assembly,
                                         .pViewportState = &views,
                                         .pRasterizationState = &raster,
                                         .pMultisampleState = &samples,
                                         .pColorBlendState = &blend,
                                         .layout = layout};
    VkPipeline pipeline;
    CHECK(vkCreateGraphicsPipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline));
    return pipeline;
}

static uint32_t up_to(uint32_t size, uint32_t alignment) { return (size + alignment - 1) / alignment * alignment; }

int main(int argc, char **argv) {
    if (argc != 3) return fprintf(stderr, "counters_by_region triangle.vert.spv triangle.frag.spv\n"), 1;
    VkPhysicalDevicePerformanceCountersByRegionFeaturesARM features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PERFORMANCE_COUNTERS_BY_REGION_FEATURES_ARM,
        .performanceCountersByRegion = VK_TRUE};
    open_device(VK_ARM_PERFORMANCE_COUNTERS_BY_REGION_EXTENSION_NAME, &features);
    INSTANCE_COMMAND(vkEnumeratePhysicalDeviceQueueFamilyPerformanceCountersByRegionARM);

    /* The counter by its name. */
    uint32_t count = 0;
    CHECK(vkEnumeratePhysicalDeviceQueueFamilyPerformanceCountersByRegionARM(physical, 0, &count, NULL, NULL));
    VkPerformanceCounterARM *counters = calloc(count, sizeof *counters);
    VkPerformanceCounterDescriptionARM *texts = calloc(count, sizeof *texts);
    for (uint32_t i = 0; i < count; i++) {
        counters[i].sType = VK_STRUCTURE_TYPE_PERFORMANCE_COUNTER_ARM;
        texts[i].sType = VK_STRUCTURE_TYPE_PERFORMANCE_COUNTER_DESCRIPTION_ARM;
    }
    CHECK(vkEnumeratePhysicalDeviceQueueFamilyPerformanceCountersByRegionARM(physical, 0, &count, counters, texts));
    uint32_t at = 0;
    while (at < count && strcmp(texts[at].name, COUNTER)) at++;
    if (at == count) return fprintf(stderr, "no counter '%s'\n", COUNTER), 1;

    /* A word for each counter of a region; regions and rows of regions aligned as the device says. */
    VkPhysicalDevicePerformanceCountersByRegionPropertiesARM region = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PERFORMANCE_COUNTERS_BY_REGION_PROPERTIES_ARM};
    VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                              .pNext = &region};
    vkGetPhysicalDeviceProperties2(physical, &properties);
    VkExtent2D side = region.performanceCounterRegionSize;
    uint32_t across = (WIDTH + side.width - 1) / side.width, down = (HEIGHT + side.height - 1) / side.height;
    uint32_t stride = up_to(sizeof(uint32_t), region.regionAlignment);
    uint32_t pitch = up_to(across * stride, region.rowStrideAlignment);
    void *bytes;
    VkBuffer buffer = make_buffer((VkDeviceSize)pitch * down, &bytes);
    VkBufferDeviceAddressInfo address_info = {.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = buffer};
    VkDeviceAddress address = vkGetBufferDeviceAddress(device, &address_info);

    VkImage image;
    VkImageView view = make_target(&image);
    VkRenderPassPerformanceCountersByRegionBeginInfoARM counted = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_PERFORMANCE_COUNTERS_BY_REGION_BEGIN_INFO_ARM,
        .counterAddressCount = 1,
        .pCounterAddresses = &address,
        .counterIndexCount = 1,
        .pCounterIndices = &counters[at].counterID};
    VkRenderingAttachmentInfo attachment = {.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
                                            .imageView = view,
                                            .imageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                            .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                            .storeOp = VK_ATTACHMENT_STORE_OP_STORE};
    VkRenderingInfo pass = {.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
                            .pNext = &counted,
                            .renderArea = {{0, 0}, {WIDTH, HEIGHT}},
                            .layerCount = 1,
                            .colorAttachmentCount = 1,
                            .pColorAttachments = &attachment};
    begin_commands();
    VkImageMemoryBarrier to_general = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                                       .dstAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
                                       .newLayout = VK_IMAGE_LAYOUT_GENERAL,
                                       .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                       .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                       .image = image,
                                       .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT, 0, 0,
                         NULL, 0, NULL, 1, &to_general);
    vkCmdBeginRendering(commands, &pass);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, make_graphics_pipeline(argv + 1));
    vkCmdDraw(commands, 3, 1, 0, 0);
    vkCmdEndRendering(commands);
    submit(NULL);

    printf("%s, by regions of %ux%u%s\n", COUNTER, side.width, side.height,
           region.identityTransformOrder ? "" : ", in the order of memory, which is not the picture's");
    for (uint32_t y = 0; y < down; y++) {
        for (uint32_t x = 0; x < across; x++) {
            uint32_t value;
            memcpy(&value, (char *)bytes + y * pitch + x * stride, sizeof value);
            printf("%s%u", x ? " " : "", value);
        }
        printf("\n");
    }
    return 0;
}
