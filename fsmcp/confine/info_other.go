//go:build !unix

package confine

import (
	"io/fs"
	"os"
)

// nonBlocking has no meaning here: there is no FIFO in a directory.
const nonBlocking = 0

func openRootHandle(path string) (handle, error) { return openPortable(path) }

func portableInfo(fi fs.FileInfo) Info { return basicInfo(fi) }

// identify says what is at a physical path now, for comparison with what was opened.
func identify(path string) (ID, error) {
	fi, err := os.Lstat(path)
	if err != nil {
		return ID{}, err
	}
	return portableInfo(fi).ID, nil
}
