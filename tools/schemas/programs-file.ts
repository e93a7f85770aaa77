// The JSON schema of PROGRAMS_FILE, for editors that check a YAML file while it is written.

import { z } from 'zod';
import { PROGRAM_NAME } from '../../src/config/programs-file.ts';
import { environmentSchema, PROGRAM_KEYS } from '../../src/config/variables.ts';

const shape = PROGRAM_KEYS.map(({ key, variable, meaning, form }) => {
  const read: z.ZodType | undefined = Reflect.get(environmentSchema.shape, variable);
  const values = read instanceof z.ZodPrefault && read.unwrap();
  return [key, (values instanceof z.ZodEnum ? values : form).optional().describe(meaning)];
});

export const PROGRAMS_FILE_SCHEMA = z.strictObject({
  programs: z
    .record(z.string().regex(PROGRAM_NAME), z.strictObject(Object.fromEntries(shape)))
    .describe('each program by its name; what is left out of one comes from the environment'),
});
