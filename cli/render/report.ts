/** The end of a run: what became of it and how to go on. Pure. */

/** Lines under `next` of a run's report, as the workflow wrote it; none when there is no such list. */
export function nextSteps(report: unknown): string[] {
  const next: unknown = field(report, 'next');
  return Array.isArray(next) ? next.filter((line) => typeof line === 'string') : [];
}

export function reportLines(report: unknown): string[] {
  const main = field(report, 'main');
  const delivered = field(report, 'delivered');
  return [
    ...(typeof main === 'string' ? [`  main is at ${main}`] : []),
    ...(typeof delivered === 'string' ? [`  delivered to ${delivered}`] : []),
    ...nextSteps(report).map((line) => `  ${line}`),
  ];
}

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
