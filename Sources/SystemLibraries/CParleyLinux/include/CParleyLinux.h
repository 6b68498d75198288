// Linux functions that Swift's Glibc module does not have.

#ifndef CLinux_h
#define CLinux_h

/// Returns the type of a path's file system (linux/magic.h), or 0 if the path does not exist.
unsigned long CLinux_fileSystem(const char *path);

/// Returns 1 if the kernel's clock is synchronised by a time service, else 0.
int CLinux_isClockSynchronised(void);

/// Makes the allocator return freed blocks of a megabyte or more to the system at once. Call it
/// before threads are started.
void CLinux_returnLargeBlocks(void);

/// Exchanges two files in one step. Returns 0, else -1 with the reason in errno.
int CLinux_exchange(const char *path, const char *other);

/// Returns the number of cores that this process may use, or 0 if it is unknown.
int CLinux_cores(void);

#endif
