/* GL_AMD_performance_monitor: what a frame cost, by the counters of one group. tuff gl -- gl_monitor */
#define EGL_EGLEXT_PROTOTYPES
#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Commands that no library exports. */
#define FIND(type, name) type name = (type)eglGetProcAddress(#name)

static void context_without_a_window(void) {
    EGLDisplay display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
    EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
    EGLint size[] = {EGL_WIDTH, 256, EGL_HEIGHT, 256, EGL_NONE};
    EGLConfig config;
    EGLint count = 0;
    if (!eglInitialize(display, NULL, NULL) || !eglBindAPI(EGL_OPENGL_API) ||
        !eglChooseConfig(display, wanted, &config, 1, &count) || !count) {
        fprintf(stderr, "no OpenGL here\n");
        exit(1);
    }
    EGLSurface surface = eglCreatePbufferSurface(display, config, size);
    EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, NULL);
    if (!eglMakeCurrent(display, surface, surface, context)) exit(1);
}

int main(void) {
    context_without_a_window();
    const char *extensions = (const char *)glGetString(GL_EXTENSIONS);
    if (!extensions || !strstr(extensions, "GL_AMD_performance_monitor"))
        return fprintf(stderr, "no GL_AMD_performance_monitor here: run it with `tuff gl`\n"), 1;
    FIND(PFNGLGETPERFMONITORGROUPSAMDPROC, glGetPerfMonitorGroupsAMD);
    FIND(PFNGLGETPERFMONITORGROUPSTRINGAMDPROC, glGetPerfMonitorGroupStringAMD);
    FIND(PFNGLGETPERFMONITORCOUNTERSAMDPROC, glGetPerfMonitorCountersAMD);
    FIND(PFNGLGETPERFMONITORCOUNTERSTRINGAMDPROC, glGetPerfMonitorCounterStringAMD);
    FIND(PFNGLGETPERFMONITORCOUNTERINFOAMDPROC, glGetPerfMonitorCounterInfoAMD);
    FIND(PFNGLGENPERFMONITORSAMDPROC, glGenPerfMonitorsAMD);
    FIND(PFNGLSELECTPERFMONITORCOUNTERSAMDPROC, glSelectPerfMonitorCountersAMD);
    FIND(PFNGLBEGINPERFMONITORAMDPROC, glBeginPerfMonitorAMD);
    FIND(PFNGLENDPERFMONITORAMDPROC, glEndPerfMonitorAMD);
    FIND(PFNGLGETPERFMONITORCOUNTERDATAAMDPROC, glGetPerfMonitorCounterDataAMD);

    /* The group of the tiler, and as many of its counters as may be active at once. */
    GLuint groups[16], group = 0;
    GLint group_count = 0, count = 0, active = 0;
    char name[256];
    glGetPerfMonitorGroupsAMD(&group_count, 16, groups);
    for (GLint i = 0; i < group_count; i++) {
        glGetPerfMonitorGroupStringAMD(groups[i], sizeof name, NULL, name);
        if (!strcmp(name, "Tiler")) group = groups[i];
    }
    glGetPerfMonitorCountersAMD(group, &count, &active, 0, NULL);
    GLuint *counters = calloc(count, sizeof *counters);
    glGetPerfMonitorCountersAMD(group, &count, &active, count, counters);
    GLuint monitor;
    glGenPerfMonitorsAMD(1, &monitor);
    glSelectPerfMonitorCountersAMD(monitor, GL_TRUE, group, count < active ? count : active, counters);

    glBeginPerfMonitorAMD(monitor);
    glClear(GL_COLOR_BUFFER_BIT);
    glBegin(GL_TRIANGLES);
    for (int i = 0; i < 300; i++) glVertex2f((i * 37 % 100) / 50.0f - 1, (i * 53 % 100) / 50.0f - 1);
    glEnd();
    /* A tile-based GPU draws when the pass ends: the whole of it is to be counted. */
    glFlush();
    glEndPerfMonitorAMD(monitor);

    /* Group, counter, and a value of its type, one after the other. */
    GLuint size = 0;
    glGetPerfMonitorCounterDataAMD(monitor, GL_PERFMON_RESULT_SIZE_AMD, sizeof size, &size, NULL);
    GLuint *data = calloc(1, size);
    GLsizei written = 0;
    glGetPerfMonitorCounterDataAMD(monitor, GL_PERFMON_RESULT_AMD, size, data, &written);
    for (GLuint *at = data; at < data + written / sizeof *data;) {
        GLenum type = 0;
        glGetPerfMonitorCounterInfoAMD(at[0], at[1], GL_COUNTER_TYPE_AMD, &type);
        glGetPerfMonitorCounterStringAMD(at[0], at[1], sizeof name, NULL, name);
        if (type == GL_UNSIGNED_INT64_AMD) {
            uint64_t value;
            memcpy(&value, at + 2, sizeof value);
            printf("%s: %" PRIu64 "\n", name, value);
        } else if (type == GL_UNSIGNED_INT) {
            printf("%s: %u\n", name, at[2]);
        } else {
            float value;
            memcpy(&value, at + 2, sizeof value);
            printf("%s: %.3f\n", name, value);
        }
        at += type == GL_UNSIGNED_INT64_AMD ? 4 : 3;
    }
    return glGetError() != GL_NO_ERROR;
}
