/** 300 × `true` at 16 at once, as in the issue; the suite runs 100. */
process.env['SWARMLINE_TEST_STARTS'] = '300';
await import('../integration/sandbox/starts.test.ts');
