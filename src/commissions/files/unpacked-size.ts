// How large a ZIP archive says that it is unpacked: a file of a megabyte may hold thousands of times as much, and take
// all of the memory.
// Source: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT (4.3.12 and 4.3.16, read 2026-11).

const END = Buffer.from('504b0506', 'hex');
const ENTRY = 0x02014b50;
/** Of an entry of the directory, without its name, its extra field and its comment. */
const ENTRY_BYTES = 46;

/** Returns the bytes of all files together, as the directory states them; 0 where there is none to be read. */
export function unpackedSize(archive: Uint8Array): number {
  const bytes = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
  const end = bytes.lastIndexOf(END);
  if (end === -1 || end + 20 > bytes.length) return 0;
  let size = 0;
  let at = bytes.readUInt32LE(end + 16);
  while (at + ENTRY_BYTES <= bytes.length && bytes.readUInt32LE(at) === ENTRY) {
    // Of more than 4 GB, it is the largest number.
    size += bytes.readUInt32LE(at + 24);
    at += ENTRY_BYTES + [28, 30, 32].reduce((sum, place) => sum + bytes.readUInt16LE(at + place), 0);
  }
  return size;
}
