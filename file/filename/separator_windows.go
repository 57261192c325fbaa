// Port of file/filename.h (kFilePathSeparator).

package filename

const filePathSeparator = '\\'
