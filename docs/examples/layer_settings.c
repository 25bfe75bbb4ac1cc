/* VK_LAYER_TUFF_gpu_performance, set up by the program itself (VK_EXT_layer_settings): rows of what a dispatch cost.
   layer_settings double.spv ROWS.csv; the layer is found where it is installed, or by VK_LAYER_PATH */
#include "setup.h"

enum { NUMBERS = 4096 };

/* What vulkan.h of before 2024 lacks. */
#ifndef VK_EXT_layer_settings
#define VK_STRUCTURE_TYPE_LAYER_SETTINGS_CREATE_INFO_EXT ((VkStructureType)1000496000)
typedef enum VkLayerSettingTypeEXT { VK_LAYER_SETTING_TYPE_STRING_EXT = 7 } VkLayerSettingTypeEXT;
typedef struct VkLayerSettingEXT {
    const char *pLayerName;
    const char *pSettingName;
    VkLayerSettingTypeEXT type;
    uint32_t valueCount;
    const void *pValues;
} VkLayerSettingEXT;
typedef struct VkLayerSettingsCreateInfoEXT {
    VkStructureType sType;
    const void *pNext;
    uint32_t settingCount;
    const VkLayerSettingEXT *pSettings;
} VkLayerSettingsCreateInfoEXT;
#endif

static const char *LAYER = "VK_LAYER_TUFF_gpu_performance";

int main(int argc, char **argv) {
    if (argc != 3) return fprintf(stderr, "layer_settings double.spv ROWS.csv\n"), 1;
    const char *values[][2] = {{"mode", "counters"},
                               {"csv", argv[2]},
                               {"table", "off"},
                               {"counters", "MaliCompQueueTask,TuffSfuInstr"}};
    enum { SETTINGS = sizeof values / sizeof *values };
    VkLayerSettingEXT settings[SETTINGS];
    for (int i = 0; i < SETTINGS; i++)
        settings[i] = (VkLayerSettingEXT){LAYER, values[i][0], VK_LAYER_SETTING_TYPE_STRING_EXT, 1, &values[i][1]};
    VkLayerSettingsCreateInfoEXT info = {.sType = VK_STRUCTURE_TYPE_LAYER_SETTINGS_CREATE_INFO_EXT,
                                         .settingCount = SETTINGS,
                                         .pSettings = settings};
    instance_layer = LAYER;
    instance_chain = &info;
    open_device(VK_KHR_TIMELINE_SEMAPHORE_EXTENSION_NAME, NULL);

    void *numbers;
    VkBuffer buffer = make_buffer(NUMBERS * 4, &numbers);
    for (uint32_t i = 0; i < NUMBERS; i++) ((uint32_t *)numbers)[i] = i;
    VkPipeline pipeline = make_pipeline(argv[1], buffer, NULL);
    begin_commands();
    dispatch(pipeline, NUMBERS / 64);
    submit(NULL);
    /* Rows are written as workloads end, the last when the device does. */
    vkDestroyPipeline(device, pipeline, NULL);
    vkDestroyDevice(device, NULL);
    return 0;
}
