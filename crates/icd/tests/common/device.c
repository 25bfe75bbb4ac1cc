// Makes a device of the driver in argv[1], without the loader: one that is run with other rights takes none of the loader's variables.
// Says whether the process has more rights than whoever started it (getauxval(3), AT_SECURE).
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/auxv.h>

typedef void (*Function)(void);
typedef Function (*Get)(void *instance, const char *name);
typedef struct { int type; const void *next; uint32_t flags; const void *application; uint32_t layers; const char *const *layer;
                 uint32_t extensions; const char *const *extension; } InstanceInfo;
typedef struct { int type; const void *next; uint32_t flags; uint32_t queues; const void *queue; uint32_t layers;
                 const char *const *layer; uint32_t extensions; const char *const *extension; const void *features; } DeviceInfo;

int main(int n, char **arguments) {
    void *library = n > 1 ? dlopen(arguments[1], RTLD_NOW) : NULL;
    if (!library) return fprintf(stderr, "%s\n", dlerror()), 2;
    Get get = (Get)(intptr_t)dlsym(library, "vk_icdGetInstanceProcAddr");
    int (*negotiate)(uint32_t *) = (int (*)(uint32_t *))(intptr_t)dlsym(library, "vk_icdNegotiateLoaderICDInterfaceVersion");
    uint32_t version = 5, one = 1;
    if (negotiate) negotiate(&version);
    void *instance = NULL, *physical = NULL, *device = NULL;
    InstanceInfo instance_info = {.type = 1};
    DeviceInfo device_info = {.type = 3};
    int (*create)(const InstanceInfo *, const void *, void **) = (void *)(intptr_t)get(NULL, "vkCreateInstance");
    int result = create(&instance_info, NULL, &instance);
    if (result) return fprintf(stderr, "vkCreateInstance: %d\n", result), 3;
    int (*list)(void *, uint32_t *, void **) = (void *)(intptr_t)get(instance, "vkEnumeratePhysicalDevices");
    if (list(instance, &one, &physical)) return 4;
    int (*make)(void *, const DeviceInfo *, const void *, void **) = (void *)(intptr_t)get(instance, "vkCreateDevice");
    result = make(physical, &device_info, NULL, &device);
    if (result) return fprintf(stderr, "vkCreateDevice: %d\n", result), 5;
    void (*end)(void *, const void *) = (void *)(intptr_t)get(instance, "vkDestroyDevice");
    end(device, NULL);
    printf("a device; secure %d\n", getauxval(AT_SECURE) != 0);
    return 0;
}
