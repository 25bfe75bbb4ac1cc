/* What vulkan.h of before 2025 lacks: VK_ARM_performance_counters_by_region and VK_ARM_shader_instrumentation, by vk.xml. */
#ifndef TUFF_EXAMPLES_ARM_H
#define TUFF_EXAMPLES_ARM_H

#include <vulkan/vulkan.h>

#ifndef VK_ARM_performance_counters_by_region
#define VK_ARM_performance_counters_by_region 1
#define VK_ARM_PERFORMANCE_COUNTERS_BY_REGION_EXTENSION_NAME "VK_ARM_performance_counters_by_region"
#define VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PERFORMANCE_COUNTERS_BY_REGION_FEATURES_ARM ((VkStructureType)1000605000)
#define VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PERFORMANCE_COUNTERS_BY_REGION_PROPERTIES_ARM ((VkStructureType)1000605001)
#define VK_STRUCTURE_TYPE_PERFORMANCE_COUNTER_ARM ((VkStructureType)1000605002)
#define VK_STRUCTURE_TYPE_PERFORMANCE_COUNTER_DESCRIPTION_ARM ((VkStructureType)1000605003)
#define VK_STRUCTURE_TYPE_RENDER_PASS_PERFORMANCE_COUNTERS_BY_REGION_BEGIN_INFO_ARM ((VkStructureType)1000605004)
typedef struct VkPhysicalDevicePerformanceCountersByRegionFeaturesARM {
    VkStructureType sType;
    void *pNext;
    VkBool32 performanceCountersByRegion;
} VkPhysicalDevicePerformanceCountersByRegionFeaturesARM;
typedef struct VkPhysicalDevicePerformanceCountersByRegionPropertiesARM {
    VkStructureType sType;
    void *pNext;
    uint32_t maxPerRegionPerformanceCounters;
    VkExtent2D performanceCounterRegionSize;
    uint32_t rowStrideAlignment;
    uint32_t regionAlignment;
    VkBool32 identityTransformOrder;
} VkPhysicalDevicePerformanceCountersByRegionPropertiesARM;
typedef struct VkPerformanceCounterARM {
    VkStructureType sType;
    void *pNext;
    uint32_t counterID;
} VkPerformanceCounterARM;
typedef VkFlags VkPerformanceCounterDescriptionFlagsARM;
typedef struct VkPerformanceCounterDescriptionARM {
    VkStructureType sType;
    void *pNext;
    VkPerformanceCounterDescriptionFlagsARM flags;
    char name[VK_MAX_DESCRIPTION_SIZE];
} VkPerformanceCounterDescriptionARM;
typedef struct VkRenderPassPerformanceCountersByRegionBeginInfoARM {
    VkStructureType sType;
    void *pNext;
    uint32_t counterAddressCount;
    const VkDeviceAddress *pCounterAddresses;
    VkBool32 serializeRegions;
    uint32_t counterIndexCount;
    uint32_t *pCounterIndices;
} VkRenderPassPerformanceCountersByRegionBeginInfoARM;
typedef VkResult(VKAPI_PTR *PFN_vkEnumeratePhysicalDeviceQueueFamilyPerformanceCountersByRegionARM)(
    VkPhysicalDevice, uint32_t, uint32_t *, VkPerformanceCounterARM *, VkPerformanceCounterDescriptionARM *);
#endif

#ifndef VK_ARM_shader_instrumentation
#define VK_ARM_shader_instrumentation 1
#define VK_ARM_SHADER_INSTRUMENTATION_EXTENSION_NAME "VK_ARM_shader_instrumentation"
#define VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INSTRUMENTATION_FEATURES_ARM ((VkStructureType)1000607000)
#define VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INSTRUMENTATION_PROPERTIES_ARM ((VkStructureType)1000607001)
#define VK_STRUCTURE_TYPE_SHADER_INSTRUMENTATION_CREATE_INFO_ARM ((VkStructureType)1000607002)
#define VK_STRUCTURE_TYPE_SHADER_INSTRUMENTATION_METRIC_DESCRIPTION_ARM ((VkStructureType)1000607003)
#define VK_PIPELINE_CREATE_2_INSTRUMENT_SHADERS_BIT_ARM 0x8000000000ull
VK_DEFINE_NON_DISPATCHABLE_HANDLE(VkShaderInstrumentationARM)
typedef struct VkPhysicalDeviceShaderInstrumentationFeaturesARM {
    VkStructureType sType;
    void *pNext;
    VkBool32 shaderInstrumentation;
} VkPhysicalDeviceShaderInstrumentationFeaturesARM;
typedef struct VkShaderInstrumentationCreateInfoARM {
    VkStructureType sType;
    void *pNext;
} VkShaderInstrumentationCreateInfoARM;
typedef struct VkShaderInstrumentationMetricDescriptionARM {
    VkStructureType sType;
    void *pNext;
    char name[VK_MAX_DESCRIPTION_SIZE];
    char description[VK_MAX_DESCRIPTION_SIZE];
} VkShaderInstrumentationMetricDescriptionARM;
typedef struct VkShaderInstrumentationMetricDataHeaderARM {
    uint32_t resultIndex;
    uint32_t resultSubIndex;
    VkShaderStageFlags stages;
    uint32_t basicBlockIndex;
} VkShaderInstrumentationMetricDataHeaderARM;
typedef VkFlags VkShaderInstrumentationValuesFlagsARM;
typedef VkResult(VKAPI_PTR *PFN_vkEnumeratePhysicalDeviceShaderInstrumentationMetricsARM)(
    VkPhysicalDevice, uint32_t *, VkShaderInstrumentationMetricDescriptionARM *);
typedef VkResult(VKAPI_PTR *PFN_vkCreateShaderInstrumentationARM)(VkDevice, const VkShaderInstrumentationCreateInfoARM *,
                                                                  const VkAllocationCallbacks *,
                                                                  VkShaderInstrumentationARM *);
typedef void(VKAPI_PTR *PFN_vkDestroyShaderInstrumentationARM)(VkDevice, VkShaderInstrumentationARM,
                                                               const VkAllocationCallbacks *);
typedef void(VKAPI_PTR *PFN_vkCmdBeginShaderInstrumentationARM)(VkCommandBuffer, VkShaderInstrumentationARM);
typedef void(VKAPI_PTR *PFN_vkCmdEndShaderInstrumentationARM)(VkCommandBuffer);
typedef VkResult(VKAPI_PTR *PFN_vkGetShaderInstrumentationValuesARM)(VkDevice, VkShaderInstrumentationARM, uint32_t *,
                                                                     void *, VkShaderInstrumentationValuesFlagsARM);
#endif

/* The flag is one of 64 bits, which came with VK_KHR_maintenance5 and Vulkan 1.4. */
#ifndef VK_KHR_maintenance5
#define VK_STRUCTURE_TYPE_PIPELINE_CREATE_FLAGS_2_CREATE_INFO_KHR ((VkStructureType)1000470005)
typedef struct VkPipelineCreateFlags2CreateInfoKHR {
    VkStructureType sType;
    const void *pNext;
    VkFlags64 flags;
} VkPipelineCreateFlags2CreateInfoKHR;
#endif

#endif
