package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
)

// The name of a file that is being prepared is 31 bytes, whatever it is for: one made of the final name and a suffix
// would not fit beside a name of 255 bytes. The dot keeps it out of a plain ls; [Dir.Entries] leaves it out of ours.
const (
	tempPrefix = ".lookfirst-"
	tempDigits = 16
	tempSuffix = ".tmp"
)

// nameTries is how often a name is drawn before something else must be wrong: two of 64 random bits never meet.
const nameTries = 8

// ErrNameless means that the file system makes files without a name, but that this process cannot give them one, as on
// an old kernel without /proc. [Dir.PrepareNamed] works there.
var ErrNameless = errors.New("a file without a name cannot be given one here")

// ErrBusy means that the file stayed open in another program that lets nobody replace it, which Windows allows.
var ErrBusy = errors.New("open in another program")

// KeepError means that something of the old file cannot be given to the new one. Nothing has happened to the old one.
type KeepError struct {
	What string // "owner", "access list" or "permissions"
	Err  error  // what the operating system said
}

func (e *KeepError) Error() string { return "its " + e.What + " cannot be kept" }

// Unwrap gives what the operating system said.
func (e *KeepError) Unwrap() error { return e.Err }

// writes is the part of a handle by which files are made and changed.
type writes interface {
	mayWrite(name string) error                                // nil when this process may write the file
	makeUnnamed(perm fs.FileMode) (*os.File, error)            // errors.ErrUnsupported: make a named one
	makeNamed(name string, perm fs.FileMode) (*os.File, error) // never opens what is there
	giveName(f *os.File, name string) error                    // to an unnamed file; never replaces
	settle(from, to string) error                              // renames in this directory; never replaces
	replace(from, to string) error                             // renames in this directory; replaces
	openOld(name string, flag int) (*os.File, error)
	openSelf() (*os.File, error) // this directory, to list and to sync
}

// IsTemp says whether name is one that this package gives to a file that is being prepared.
func IsTemp(name string) bool {
	if len(name) != len(tempPrefix)+tempDigits+len(tempSuffix) {
		return false
	}
	digits, ok := strings.CutPrefix(name, tempPrefix)
	if ok {
		digits, ok = strings.CutSuffix(digits, tempSuffix)
	}
	return ok && strings.Trim(digits, "0123456789abcdef") == ""
}

func newTempName() string {
	return fmt.Sprintf("%s%0*x%s", tempPrefix, tempDigits, rand.Uint64(), tempSuffix)
}

// MayWrite says whether this process may write the file: nil if it may, else what the operating system says to that.
// Replacing a file does not need that right, so whoever replaces one asks first.
func (d *Dir) MayWrite(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	return d.h.mayWrite(name)
}

// Sync waits until the names in the directory are on the disk. A directory that this process may not read cannot be
// waited for.
func (d *Dir) Sync() error {
	f, err := d.h.openSelf()
	if err != nil {
		return err
	}
	defer f.Close()
	return bare(f.Sync())
}

// Pending is a file that is being prepared beside the one it will be, and is nobody else's until it is published: it has
// no name where the file system can do that, so that not even a crash leaves a trace of it; else one that [IsTemp]
// knows. Close it in any case. It is used by one goroutine.
type Pending struct {
	dir  *Dir
	f    *os.File
	temp string // the name that it has and must lose; "" while it has none
	done bool
}

// Prepare begins a file in the directory. perm is what the umask, or the directory's default access list, is applied to.
func (d *Dir) Prepare(perm fs.FileMode) (*Pending, error) {
	f, err := d.h.makeUnnamed(perm)
	if errors.Is(err, errors.ErrUnsupported) {
		return d.PrepareNamed(perm)
	}
	if err != nil {
		return nil, err
	}
	// The lock comes before any name, so that a sweep never sees the file with a name and without the lock.
	tryLock(f)
	return &Pending{dir: d.Retain(), f: f}, nil
}

// PrepareNamed is Prepare for where files without a name are not to be had.
func (d *Dir) PrepareNamed(perm fs.FileMode) (*Pending, error) {
	for range nameTries {
		name := newTempName()
		f, err := d.h.makeNamed(name, perm)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		p := &Pending{dir: d.Retain(), f: f, temp: name}
		if p.isOurs() {
			return p, nil
		}
		p.Close()
	}
	return nil, fs.ErrExist
}

// isOurs locks a named file that was just made. The sweep of another process may have come between the two, and is then
// about to remove it, or has.
func (p *Pending) isOurs() bool {
	if tryLock(p.f) == errLocked {
		return false
	}
	mine, err := statFile(p.f)
	if err != nil {
		return false
	}
	named, err := p.dir.h.stat(p.temp)
	return err == nil && named.ID == mine.ID
}

// Reserve sets room for size bytes aside, where the file system can, so that a full disk shows before anything is done.
func (p *Pending) Reserve(size int64) error { return reserve(p.f, size) }

// Write appends to the file.
func (p *Pending) Write(b []byte) (int, error) {
	n, err := p.f.Write(b)
	return n, bare(err)
}

// TakeOver gives the file the owner, the extended attributes with the access list, and the permissions of the regular
// file at name. Setuid and setgid are dropped, as the kernel drops them on a write. An owner,
// access list or permissions that this process cannot give are a [KeepError]; another attribute is then left out.
func (p *Pending) TakeOver(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	// Attributes can also be had of a file that may be written but not read.
	old, was, err := p.dir.openOld(name, os.O_RDONLY)
	if errors.Is(err, fs.ErrPermission) {
		old, was, err = p.dir.openOld(name, os.O_WRONLY)
	}
	if err != nil {
		return err
	}
	defer old.Close()
	// In this order: a new owner clears permission bits, and with an access list the group's bits are its mask.
	if err := keepOwner(p.f, was); err != nil {
		return err
	}
	if err := keepAttributes(p.f, old); err != nil {
		return err
	}
	return keepMode(p.f, was)
}

// openOld opens an existing regular file. Like openRegular, it looks before it opens.
func (d *Dir) openOld(name string, flag int) (*os.File, Info, error) {
	seen, err := d.h.stat(name)
	if err == nil && seen.Kind != Regular {
		err = notRegular(seen.Kind)
	}
	if err != nil {
		return nil, Info{}, err
	}
	f, err := d.h.openOld(name, flag)
	if err != nil {
		return nil, Info{}, err
	}
	got, err := statFile(f)
	if err == nil && got.Kind != Regular {
		err = notRegular(got.Kind)
	}
	if err != nil {
		f.Close()
		return nil, Info{}, err
	}
	return f, got, nil
}

func keepMode(f *os.File, was Info) error {
	mode := was.Mode &^ (fs.ModeSetuid | fs.ModeSetgid)
	mine, err := statFile(f)
	if err == nil && mine.Mode == mode {
		return nil
	}
	if err := f.Chmod(mode); err != nil {
		return &KeepError{What: "permissions", Err: bare(err)}
	}
	return nil
}

// Sync waits until the file's bytes and attributes are on the disk.
func (p *Pending) Sync() error { return bare(p.f.Sync()) }

// Create publishes the file under a name that nothing has: [ErrExist] says that something has it, and is left alone.
func (p *Pending) Create(name string) error {
	err := checkName(name)
	if err != nil {
		return err
	}
	if p.temp == "" {
		err = p.dir.h.giveName(p.f, name)
	} else {
		err = p.dir.h.settle(p.temp, name)
	}
	return p.published(err)
}

// Replace publishes the file in place of the one at name, in one step: whoever opens the name gets one or the other.
func (p *Pending) Replace(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if err := p.nameIt(); err != nil {
		return err
	}
	return p.published(p.dir.h.replace(p.temp, name))
}

// nameIt gives a file without a name one of ours, because no system call puts it in the place of another name.
func (p *Pending) nameIt() error {
	if p.temp != "" {
		return nil
	}
	for range nameTries {
		name := newTempName()
		err := p.dir.h.giveName(p.f, name)
		if err == nil {
			p.temp = name
			return nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return fs.ErrExist
}

func (p *Pending) published(err error) error {
	if err == nil {
		p.temp, p.done = "", true
	}
	return err
}

// Info is what the operating system says of the file, under whatever name.
func (p *Pending) Info() (Info, error) { return statFile(p.f) }

// Close closes the file, and undoes it if it was not published. The error of a published one counts: a file system on
// another machine may say only then that the bytes did not get there. Closing again does nothing.
func (p *Pending) Close() error {
	if p.f == nil {
		return nil
	}
	// The name goes before the lock does.
	if p.temp != "" {
		p.dir.h.remove(p.temp, Regular)
	}
	err := p.f.Close()
	p.f = nil
	p.dir.Close()
	if !p.done {
		return nil
	}
	return bare(err)
}

func statFile(f *os.File) (Info, error) {
	fi, err := f.Stat()
	if err != nil {
		return Info{}, bare(err)
	}
	return portableInfo(fi), nil
}
