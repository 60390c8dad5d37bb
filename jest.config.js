const transform = {
  '^.+\\.ts$': ['@swc/jest', { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'es6' } }],
};
const project = (name, folders) => ({
  displayName: name,
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform,
  testMatch: folders.map((folder) => `<rootDir>/test/${folder}/**/*.test.ts`),
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
});

// unit: no service, seconds. integration: each test file starts or borrows what it needs. chaos: hours, a command of its own.
export default {
  // A busy machine is no failure: conditions are waited for, and nothing here is judged by its speed. (Default: 5 s.)
  testTimeout: 120_000,
  projects: [
    project('unit', ['unit']),
    project('integration', ['integration', 'replay', 'e2e']),
    project('chaos', ['chaos']),
  ],
};
