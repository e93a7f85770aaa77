// Time zones by their names, their offsets from UTC, and the one in which this process shows times to people.

/** Whether Intl and Postgres both know it by that name: an offset such as +01:00 means two things to them. */
export function isTimeZone(name: string): boolean {
  if (!/^[a-z]/i.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Returns how far the clocks of the time zone are ahead of UTC at the moment. */
export function offsetMs(timeZone: string, ms: number): number {
  let format = formats.get(timeZone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
    formats.set(timeZone, format);
  }
  const [, sign, hours = '0', minutes = '0', seconds = '0'] =
    /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(format.format(ms)) ?? [];
  const size = Number(hours) * 3_600_000 + Number(minutes) * 60_000 + Number(seconds) * 1000;
  return sign === '-' ? -size : size;
}

let shown = 'UTC';

/** Sets the zone of every time that this process shows to people. Called where the configuration is read. */
export function setDisplayZone(timeZone: string): void {
  shown = timeZone;
}

/** Returns the zone of every time that this process shows to people: UTC until it is set. */
export function displayZone(): string {
  return shown;
}
