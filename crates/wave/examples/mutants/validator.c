/* spirv-val without a process a module: reads (number of words, words) and writes (0 or the error, length of the message,
 * message), until its input ends. `mutants` compiles it with SPIRV-Tools' own library. */
#include <spirv-tools/libspirv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_3);
    uint32_t n;
    while (fread(&n, 4, 1, stdin) == 1) {
        uint32_t *words = malloc(4 * (size_t)n + 4);
        if (!words || fread(words, 4, n, stdin) != n) return 1;
        spv_diagnostic said = NULL;
        uint32_t answer[2] = {(uint32_t)spvValidateBinary(context, words, n, &said), 0};
        const char *text = said && said->error ? said->error : "";
        answer[1] = (uint32_t)strlen(text);
        fwrite(answer, 4, 2, stdout);
        fwrite(text, 1, answer[1], stdout);
        fflush(stdout);
        spvDiagnosticDestroy(said);
        free(words);
    }
    spvContextDestroy(context);
    return 0;
}
