import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { readSpec } from '../../../spec/read.ts';
import { validateSpec } from '../../../spec/validate.ts';

describe('examples/words', () => {
  test('is a spec without a problem or a warning, and without tasks: planners make them', () => {
    const text = readFileSync('examples/words/spec.yaml', 'utf8');
    const { spec, problems, warnings } = validateSpec(readSpec(text, 'yaml').raw, { files: [] });
    expect([problems, warnings]).toEqual([[], []]);
    expect(spec?.tasks).toEqual([]);
    expect(spec?.roles.planner?.engine).toBe('claude-code');
  });
});
