// A payment provider's result file lists the payments that failed beside those that arrived. Taken as paid, a failed
// one would never be paid: so a column that says of some rows that they were not paid needs a condition. The words
// below decide whether the user is asked, and never which rows are read. Pure.

import { counted, formatCount } from '../../contract/format.ts';
import { asShellWord } from '../../contract/quote-for-shell.ts';
import { quote } from '../timestamps.ts';
import { UNMET_STATES } from '../update-request.ts';
import type { FileOptions } from './file-options.ts';
import { type Problem, spellCell } from './raw-table.ts';
import { isResultColumn } from './result-columns.ts';
import { columnName } from './table-columns.ts';
import type { TableFile, TableLine } from './table-file.ts';

const STATUS = /status|zustand|ergebnis|result|states?(?!\p{L})/u;

/** Words that begin so. */
const UNPAID_STEMS = [
  'fail|return|unclaim|pend|deny|denie|declin|block|refund|revers|revok|cancel|void|reject|refus|error|expir|bounc',
  'on.?hold|held|withheld|incomplete|unsuccess|unpaid|undeliver|unprocess|invalid|insufficient|await|waiting|queue',
  'schedul|open|draft|processing|in.(progress|process|transit|review)|partial|disput|charge.?back|stop|suspend|abort',
  'fehl|gescheitert|abgelehnt|abgewiesen|abgebrochen|abgelaufen|zur(ü|ue)ck|r(ü|ue)ck|retour|ausstehend|anstehend',
  'offen|stornier|storno|gesperrt|blockiert|erstattet|widerruf|verweiger|unbezahlt|unzustellbar|ung(ü|ue)ltig|teilw',
  'wartet|wartend|in.bearbeitung|angehalten|geplant|vorgemerkt',
];
const UNPAID = new RegExp(
  `(?<!\\p{L})(${UNPAID_STEMS.join('|')}|(not?|nicht|nein|false|falsch|${UNMET_STATES.join('|')})(?!\\p{L}))`,
  'u',
);
const PAID =
  /(?<!\p{L})(complet|succe|paid|sent|settled|executed|done|ok|processed|cleared|credited|deposited|applied|unchanged|yes|true|(aus|über)?(be|ge)?zahlt|erfolg|abgeschlossen|ausgeführt|überwiesen|erledigt|gutgeschrieben|gebucht|ja(?!\p{L})|wahr)/u;

/** Of those that say so, as many are named. */
const MOST_WORDS = 5;

/**
 * Returns a problem where a status says of rows that `isPaid` takes as paid that they were not, with the command that
 * reads the others alone. A column that a condition names is read as the user says, and ours are no provider's.
 */
export function findUnpaidRows(
  { header, rows, lines }: TableFile,
  isPaid: (line: TableLine) => boolean,
  { only, command }: FileOptions,
): Problem[] {
  const paidLines = new Set(lines.filter(isPaid).map(({ line }) => line));
  const paid = rows.filter(({ line }) => paidLines.has(line));
  const named = new Set(only.map(({ column }) => columnName(column)));
  for (const [index, name] of header.entries()) {
    if (!STATUS.test(columnName(name)) || named.has(columnName(name)) || isResultColumn(name)) continue;
    const values = paid.map(({ cells }) => spellCell(cells[index] ?? null));
    const unpaid = values.filter(saysUnpaid);
    if (unpaid.length === 0) continue;
    const others = [...new Set(values)].filter((value) => value !== '' && !saysUnpaid(value));
    const known = others.filter((value) => PAID.test(plain(value)));
    const flags = (known.length > 0 ? known : others).map((value) => asShellWord(`${name.trim()}=${value}`));
    const words = [...new Set(unpaid)].slice(0, MOST_WORDS).map(quote).join(', ');
    const advice =
      flags.length === 0
        ? `if one of these words means that it was, give --only ${quote(name.trim())}=WORD`
        : `to read the others alone, run ${[command, ...flags].join(' --only ')}`;
    return [
      {
        line: null,
        problem: `the column ${quote(name)} says of ${formatCount(unpaid.length)} of ${counted(paid.length, 'row')} that they were not paid (${words}): ${advice}`,
      },
    ];
  }
  return [];
}

function saysUnpaid(value: string): boolean {
  return UNPAID.test(plain(value));
}

function plain(value: string): string {
  return value.normalize('NFKC').toLowerCase();
}
