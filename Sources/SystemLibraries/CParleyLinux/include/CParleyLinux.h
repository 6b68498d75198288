// Questions to the kernel that Swift's Glibc leaves out.

#ifndef CLinux_h
#define CLinux_h

/// The number of the file system that a path is on (linux/magic.h), or 0 if there is no such path.
unsigned long CLinux_fileSystem(const char *path);

/// 1 if the kernel says that a time service keeps its clock right, else 0.
int CLinux_isClockSynchronised(void);

/// Has blocks of a megabyte and more given back to the system as soon as they are free, instead of
/// kept for later. Before threads are started.
void CLinux_returnLargeBlocks(void);

/// Has two files change places, in one step; 0 if they have, else -1 with the reason in errno.
int CLinux_exchange(const char *path, const char *other);

/// The number of cores that this process may use, or 0 if that is not known.
int CLinux_cores(void);

#endif
