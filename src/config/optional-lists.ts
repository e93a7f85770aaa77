// The lists that a program need not have, since its contract does not show them, and how the variable says which it
// has.

import { reading } from './reading.ts';

/** Named after what they list. */
export const OPTIONAL_LISTS = ['campaigns', 'commissions'] as const;

export type OptionalList = (typeof OPTIONAL_LISTS)[number];

/** By list, whether the program has it: it says so itself, or the configuration does. */
export type ListSettings = Readonly<Record<OptionalList, 'auto' | 'on' | 'off'>>;

/** Every list is left to the program. */
export const AUTO = settingsOf(() => 'auto');

/** Reads `auto`, `none`, or names with commas between them. */
export const listSettings = reading((text, refuse): ListSettings => {
  if (text === 'auto') return AUTO;
  const named = text === 'none' ? [] : text.split(',').map((name) => name.trim());
  if (!named.every((name) => OPTIONAL_LISTS.some((list) => list === name))) {
    return refuse(`must be auto, none, or some of ${OPTIONAL_LISTS.join(', ')}`);
  }
  return settingsOf((list) => (named.includes(list) ? 'on' : 'off'));
});

function settingsOf(settingOf: (list: OptionalList) => 'auto' | 'on' | 'off'): ListSettings {
  return Object.fromEntries(OPTIONAL_LISTS.map((list) => [list, settingOf(list)])) as ListSettings;
}
