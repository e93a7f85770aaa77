// Loaded before a script (node --import): shifts the clock of its process by CLOCK_AHEAD_MS, as if the machine's own
// were wrong. At once, or, where CLOCK_JUMPS is set, when the process is sent SIGUSR2.

const aheadMs = Number(process.env['CLOCK_AHEAD_MS']);
const RightDate = Date;
const rightOrigin = performance.timeOrigin;
let shiftMs = 0;

const now = () => RightDate.now() + shiftMs;

globalThis.Date = new Proxy(RightDate, {
  // Without arguments it is the moment; with some, it is what they say.
  construct: (target, parts, asked) => Reflect.construct(target, parts.length === 0 ? [now()] : parts, asked),
  apply: () => new RightDate(now()).toString(),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});

function shift(): void {
  shiftMs = aheadMs;
  Object.defineProperty(performance, 'timeOrigin', { value: rightOrigin + aheadMs, configurable: true });
}

if (process.env['CLOCK_JUMPS'] === undefined) shift();
else process.on('SIGUSR2', shift);
