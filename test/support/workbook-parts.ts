// Excel workbooks without hucre: what it wrote is read by another, and it reads what another wrote. Only as much of ZIP
// and of the XML as these tests need.

import { crc32, inflateRawSync } from 'node:zlib';

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;

/** Returns the files of the archive as text, by name. */
function readZip(bytes: Buffer): ReadonlyMap<string, string> {
  const end = bytes.lastIndexOf(Buffer.from('504b0506', 'hex'));
  if (bytes.readUInt32LE(end) !== END) throw new Error('no zip');
  const files = new Map<string, string>();
  let at = bytes.readUInt32LE(end + 16);
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left -= 1) {
    if (bytes.readUInt32LE(at) !== ENTRY) throw new Error('no entry');
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((place) =>
      bytes.readUInt16LE(at + place),
    );
    const name = bytes.toString('utf8', at + 46, at + 46 + (nameLength ?? 0));
    const local = bytes.readUInt32LE(at + 42);
    const data = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const packed = bytes.subarray(data, data + bytes.readUInt32LE(at + 20));
    const content = bytes.readUInt16LE(at + 10) === 0 ? packed : inflateRawSync(packed);
    if (crc32(content) !== bytes.readUInt32LE(at + 16)) throw new Error(`${name} is damaged`);
    files.set(name, content.toString('utf8'));
    at += 46 + (nameLength ?? 0) + (extraLength ?? 0) + (commentLength ?? 0);
  }
  return files;
}

/** Returns the archive of the files, stored as they are. */
export function writeZip(files: Readonly<Record<string, string>>): Buffer {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const data = Buffer.from(text);
    const sizes = Buffer.alloc(12);
    [crc32(data), data.length, data.length].forEach((value, index) => {
      sizes.writeUInt32LE(value, index * 4);
    });
    const head = Buffer.concat([Buffer.from('14000000000000000000', 'hex'), sizes]);
    const lengths = Buffer.alloc(4);
    lengths.writeUInt16LE(Buffer.byteLength(name));
    const local = Buffer.concat([number(LOCAL), head, lengths, Buffer.from(name), data]);
    locals.push(local);
    const rest = Buffer.alloc(10);
    entries.push(
      Buffer.concat([
        number(ENTRY),
        Buffer.from('1400', 'hex'),
        head,
        lengths,
        rest,
        number(offset),
        Buffer.from(name),
      ]),
    );
    offset += local.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...locals, directory, number(END), end]);
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** A cell as the file has it: its text or number, and how it is formatted. */
export interface SheetCell {
  readonly value: string;
  readonly isText: boolean;
  readonly isFormula: boolean;
  readonly format: string | null;
}

/** Returns the cells of the first sheet, by their place such as B2. */
export function readSheet(bytes: Buffer): ReadonlyMap<string, SheetCell> {
  const files = readZip(bytes);
  const sheet = files.get('xl/worksheets/sheet1.xml') ?? '';
  const styles = files.get('xl/styles.xml') ?? '';
  const codes = new Map(
    [...styles.matchAll(/<numFmt numFmtId="(\d+)" formatCode="([^"]*)"/g)].map(([, id, code]) => [id, code]),
  );
  const cellFormats = [
    ...(/<cellXfs.*<\/cellXfs>/s.exec(styles)?.[0] ?? '').matchAll(/<xf numFmtId="(\d+)"/g),
  ];
  return new Map(
    [...sheet.matchAll(/<c r="([A-Z]+\d+)"([^>]*?)(?:\/>|>(.*?)<\/c>)/gs)].map(
      ([, place = '', attributes = '', body = '']) => {
        const style = / s="(\d+)"/.exec(attributes)?.[1];
        const [, text] = /<t[^>]*>(.*?)<\/t>/s.exec(body) ?? [];
        const [, value = ''] = /<v>(.*?)<\/v>/s.exec(body) ?? [];
        const cell = {
          value: readEntities(text ?? value),
          isText: text !== undefined,
          isFormula: body.includes('<f'),
          format: style === undefined ? null : (codes.get(cellFormats[Number(style)]?.[1]) ?? null),
        };
        return [place, cell];
      },
    ),
  );
}

function readEntities(text: string): string {
  const names: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };
  return text.replace(/&(\w+);/g, (all, name: string) => names[name] ?? all);
}

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';

/**
 * Returns a workbook as Excel saves one: shared strings, Excel's own date formats (1 and 2), the sheets' XML as given: their
 * rows, and what comes before these. A chart that has a sheet to itself has neither.
 */
export function writeExcelWorkbook(
  sheets: readonly {
    readonly rows: string;
    readonly before?: string;
    readonly isHidden?: true;
    readonly isChart?: true;
  }[],
  strings: readonly string[],
): Buffer {
  const kindOf = (index: number) => (sheets[index]?.isChart === true ? 'chartsheet' : 'worksheet');
  const parts = sheets.map((_, index) => `/xl/${kindOf(index)}s/sheet${index + 1}.xml`);
  const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
  const override = (name: string, kind: string) =>
    `<Override PartName="${name}" ContentType="${type}.${kind}+xml"/>`;
  const relation = (id: number, kind: string, target: string) =>
    `<Relationship Id="rId${id}" Type="${OFFICE}/${kind}" Target="${target}"/>`;
  return writeZip({
    '[Content_Types].xml': `<?xml version="1.0"?><Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>${override('/xl/workbook.xml', 'sheet.main')}${parts.map((part, index) => override(part, kindOf(index))).join('')}${override('/xl/styles.xml', 'styles')}${override('/xl/sharedStrings.xml', 'sharedStrings')}</Types>`,
    '_rels/.rels': `<?xml version="1.0"?><Relationships xmlns="${PACKAGE}/relationships">${relation(1, 'officeDocument', 'xl/workbook.xml')}</Relationships>`,
    'xl/workbook.xml': `<?xml version="1.0"?><workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets>${sheets.map(({ isHidden }, index) => `<sheet name="Tabelle${index + 1}" sheetId="${index + 1}"${isHidden === true ? ' state="hidden"' : ''} r:id="rId${index + 1}"/>`).join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<?xml version="1.0"?><Relationships xmlns="${PACKAGE}/relationships">${sheets.map((_, index) => relation(index + 1, kindOf(index), `${kindOf(index)}s/sheet${index + 1}.xml`)).join('')}${relation(98, 'styles', 'styles.xml')}${relation(99, 'sharedStrings', 'sharedStrings.xml')}</Relationships>`,
    'xl/styles.xml': `<?xml version="1.0"?><styleSheet xmlns="${MAIN}"><numFmts count="1"><numFmt numFmtId="164" formatCode="dd/mm/yyyy\\ hh:mm;@"/></numFmts><fonts count="1"><font><sz val="11"/></font></fonts><fills count="1"><fill><patternFill patternType="none"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="3"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/><xf numFmtId="164" applyNumberFormat="1"/></cellXfs></styleSheet>`,
    'xl/sharedStrings.xml': `<?xml version="1.0"?><sst xmlns="${MAIN}">${strings.map((text) => `<si><t xml:space="preserve">${text}</t></si>`).join('')}</sst>`,
    ...Object.fromEntries(
      sheets.map(({ rows, before = '' }, index) => [
        parts[index]?.slice(1) ?? '',
        kindOf(index) === 'chartsheet'
          ? `<?xml version="1.0"?><chartsheet xmlns="${MAIN}"/>`
          : `<?xml version="1.0"?><worksheet xmlns="${MAIN}">${before}<sheetData>${rows}</sheetData></worksheet>`,
      ]),
    ),
  });
}
