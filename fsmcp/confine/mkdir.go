package confine

import (
	"errors"
	"io/fs"
)

// MkdirAll makes the directories names[0], names[0]/names[1], … in d, or none of them. One that somebody else has made
// meanwhile is as good as ours. It returns end, to be called once: it takes back those that were made unless they are to
// be kept.
func (d *Dir) MkdirAll(names []string) (end func(keep bool), err error) {
	if len(names) == 0 {
		return func(bool) {}, nil
	}
	err = d.Mkdir(names[0])
	ours := err == nil
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	child, err := d.OpenDir(names[0])
	var below func(keep bool)
	if err == nil {
		if below, err = child.MkdirAll(names[1:]); err != nil {
			child.Close()
		}
	}
	if err != nil {
		if ours {
			d.Remove(names[0], Directory)
		}
		return nil, err
	}
	// The directory stays open for that: by then its path could lead elsewhere.
	return func(keep bool) {
		below(keep)
		child.Close()
		if ours && !keep {
			d.Remove(names[0], Directory)
		}
	}, nil
}
