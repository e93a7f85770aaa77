// Answers of an API that writes identifiers in capitals.

/** Returns the JSON with the identifier of every record in capitals, or of those that `isOne` picks by their place. */
export function inCapitals(json: string, isOne: (place: number) => boolean = () => true): string {
  let place = 0;
  return json.replace(/("id"\s*:\s*)("[0-9a-f-]{36}")/g, (whole, name: string, id: string) => {
    place += 1;
    return isOne(place) ? name + id.toUpperCase() : whole;
  });
}
