package confine

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

const (
	// busyTries and busyWait bound the wait for a program that holds the old file open. Only Windows knows that, where
	// an indexer or a virus scanner does it for some milliseconds after every change.
	busyTries = 10
	busyWait  = 20 * time.Millisecond
)

// mayWrite opens a regular file, since os.Root has no other way to ask for the effective user. Anything else is judged by
// its permission bits.
func (d rootDir) mayWrite(name string) error {
	seen, err := d.r.Lstat(name)
	switch {
	case err != nil:
		return bare(err)
	case !seen.Mode().IsRegular():
		if seen.Mode()&0o222 == 0 {
			return fs.ErrPermission
		}
		return nil
	}
	f, err := d.openOld(name, os.O_WRONLY)
	if err != nil {
		return err
	}
	return bare(f.Close())
}

func (rootDir) makeUnnamed(fs.FileMode) (*os.File, error) { return nil, errors.ErrUnsupported }

func (rootDir) giveName(*os.File, string) error { return ErrNameless }

func (d rootDir) makeNamed(name string, perm fs.FileMode) (*os.File, error) {
	f, err := d.r.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	return f, bare(err)
}

// settle makes a second name, which never replaces, and takes the first away. Where there are no hard links a check has
// to do: what appears after it is replaced.
func (d rootDir) settle(from, to string) error {
	err := d.r.Link(from, to)
	switch {
	case err == nil:
		return bare(d.r.Remove(from))
	case errors.Is(err, fs.ErrExist):
		return fs.ErrExist
	}
	return d.rename(from, d, to)
}

func (d rootDir) replace(from, to string) error {
	err := d.r.Rename(from, to)
	for again := 0; isBusy(err) && again < busyTries; again++ {
		time.Sleep(busyWait)
		err = d.r.Rename(from, to)
	}
	if isBusy(err) && !errors.Is(err, fs.ErrPermission) {
		return ErrBusy
	}
	return bare(err)
}

// openOld opens again when another file has taken the place of the one that was seen, which a program that saves does.
func (d rootDir) openOld(name string, flag int) (f *os.File, err error) {
	for range chaseLimit {
		if f, err = d.openSame(name, flag); err != errLink {
			break
		}
	}
	return f, err
}

// openSame looks first, since os.Root follows a link that stays inside it.
func (d rootDir) openSame(name string, flag int) (*os.File, error) {
	seen, err := d.r.Lstat(name)
	switch {
	case err != nil:
		return nil, bare(err)
	case !seen.Mode().IsRegular():
		return nil, notRegular(kindOf(seen.Mode()))
	}
	f, err := d.r.OpenFile(name, flag|nonBlocking, 0)
	if err != nil {
		return nil, moved(err)
	}
	got, err := f.Stat()
	if err == nil && !os.SameFile(got, seen) {
		err = errLink
	}
	if err != nil {
		f.Close()
		return nil, bare(err)
	}
	return f, nil
}

func (d rootDir) openSelf() (*os.File, error) {
	f, err := d.r.Open(".")
	return f, bare(err)
}
