#define _GNU_SOURCE
#include "ckernel.h"
#include <link.h>
#include <stdbool.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

static bool is_written_by_the_loader(const struct dl_phdr_info *object) {
  for (int index = 0; index < object->dlpi_phnum; index++) {
    if (object->dlpi_phdr[index].p_type != PT_DYNAMIC) continue;
    for (const ElfW(Dyn) *entry = (const void *)(object->dlpi_addr + object->dlpi_phdr[index].p_vaddr);
         entry->d_tag != DT_NULL; entry++) {
      if (entry->d_tag == DT_TEXTREL || (entry->d_tag == DT_FLAGS && entry->d_un.d_val & DF_TEXTREL)) return true;
    }
  }
  return false;
}

static int unmap_what_is_only_read(struct dl_phdr_info *object, size_t size, void *context) {
  (void)size, (void)context;
  const uintptr_t kernels = getauxval(AT_SYSINFO_EHDR), page = (uintptr_t)sysconf(_SC_PAGESIZE);
  if (is_written_by_the_loader(object)) return 0;
  for (int index = 0; index < object->dlpi_phnum; index++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[index];
    if (part->p_type != PT_LOAD || part->p_flags & PF_W) continue;
    const uintptr_t first = object->dlpi_addr + part->p_vaddr, end = first + part->p_filesz;
    if (kernels >= first && kernels < end) continue;
    const uintptr_t from = (first + page - 1) / page * page, to = end / page * page;
    if (from < to) madvise((void *)from, to - from, MADV_DONTNEED);
  }
  return 0;
}

void ckernel_rest(void) {
  ckernel_release_memory();
  dl_iterate_phdr(unmap_what_is_only_read, NULL);
}
