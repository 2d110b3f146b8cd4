package textfile

// NFC returns b, which must be valid UTF-8, in normalisation form NFC, as [Decode] does. Where it is in that form
// already, the result is b itself. Lines can be normalised one by one, since no character joins a line break.
func NFC(b []byte) []byte {
	nfc, _ := normalize(b)
	return nfc
}
