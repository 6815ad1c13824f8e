#include <elf.h>
#include <string.h>

#include "device/cuda_part.h"

static bool fits(uint64_t offset, uint64_t size, size_t bytes)
{
    return offset <= bytes && size <= bytes - offset;
}

/* Whether its tables, sections and segments lie within the file. */
static bool elf_fits(const char *image, size_t bytes)
{
    Elf64_Ehdr head;
    Elf64_Shdr section;
    Elf64_Phdr segment;
    if (bytes < sizeof head)
        return false;
    memcpy(&head, image, sizeof head);
    if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB || head.e_machine != EM_CUDA)
        return false;
    if (!head.e_shnum || head.e_shentsize != sizeof section || !fits(head.e_shoff, head.e_shnum * sizeof section, bytes))
        return false;
    if (head.e_phnum && (head.e_phentsize != sizeof segment || !fits(head.e_phoff, head.e_phnum * sizeof segment, bytes)))
        return false;
    for (size_t i = 0; i < head.e_shnum; i++) {
        memcpy(&section, image + head.e_shoff + i * sizeof section, sizeof section);
        if (section.sh_type != SHT_NOBITS && !fits(section.sh_offset, section.sh_size, bytes))
            return false;
    }
    for (size_t i = 0; i < head.e_phnum; i++) {
        memcpy(&segment, image + head.e_phoff + i * sizeof segment, sizeof segment);
        if (!fits(segment.p_offset, segment.p_filesz, bytes))
            return false;
    }
    return true;
}

int cuda_image_check(const void *image, size_t bytes, const char *format, bool *ptx, struct err *err)
{
    bool elf = bytes >= SELFMAG && memcmp(image, ELFMAG, SELFMAG) == 0;
    size_t text = bytes && ((const char *)image)[bytes - 1] == 0 ? bytes - 1 : bytes;
    *ptx = !elf && text && !memchr(image, 0, text) && memmem(image, text, ".version", 8);
    if (elf && !elf_fits(image, bytes))
        return err_set(err, ERR_INVALID, "a CUDA binary of %zu bytes that is cut short or damaged", bytes);
    if (!elf && !*ptx)
        return err_set(err, ERR_INVALID, "%zu bytes that are neither a CUDA binary nor PTX", bytes);
    if (format && *ptx != !strcmp(format, cuda_backend.portable))
        return err_set(err, ERR_INVALID, "a kernel stored as %s that is %s", format, *ptx ? "PTX" : "a CUDA binary");
    return 0;
}
