// How people write a full name: as it is, or with the last name first and a comma behind it.

/** Where the last name begins is not known, so each place counts; what has more words is the name of a company. */
const MOST_TURNED_WORDS = 6;

/** Returns the name, given with single spaces, and the same name in reverse. */
export function nameSpellings(name: string): readonly string[] {
  const parts = name
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
  const [whole = '', first] = parts;
  if (first !== undefined) return parts.length > 2 ? [name] : [`${whole}, ${first}`, `${first} ${whole}`];
  const words = whole.split(' ');
  if (words.length > MOST_TURNED_WORDS) return [whole];
  const turned = words.slice(1).map((_, place) => {
    const begin = place + 1;
    return `${words.slice(begin).join(' ')}, ${words.slice(0, begin).join(' ')}`;
  });
  return [whole, ...turned];
}
