// Finds the name that a mistyped one was meant to be. Pure.

/** Below this length one mistake is enough to be another word: account and amount differ by two. */
const LONG = 8;

/** Returns the candidate that the name misses by a letter or two (left out, added, changed or swapped); else null. */
export function findNearMiss(name: string, candidates: readonly string[]): string | null {
  const isNear = (candidate: string) => countMistakes(name, candidate) <= (candidate.length < LONG ? 1 : 2);
  return candidates.find(isNear) ?? null;
}

/** Returns how many letters of one name have to be left out, added, changed or swapped to make the other. */
export function countMistakes(name: string, other: string): number {
  return measureDistance(withoutSeparators(name), withoutSeparators(other));
}

function withoutSeparators(name: string): string {
  return name.replace(/[^\p{L}\p{N}]/gu, '');
}

/** Returns the optimal string alignment distance: Levenshtein's, with two swapped neighbours as one mistake. */
function measureDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number) => rows[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let row = 1; row <= a.length; row += 1) {
    rows.push([row]);
    for (let column = 1; column <= b.length; column += 1) {
      const isSame = a[row - 1] === b[column - 1];
      const isSwapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      rows[row]?.push(
        Math.min(
          at(row - 1, column) + 1,
          at(row, column - 1) + 1,
          at(row - 1, column - 1) + (isSame ? 0 : 1),
          row > 1 && column > 1 && isSwapped ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
  }
  return at(a.length, b.length);
}
