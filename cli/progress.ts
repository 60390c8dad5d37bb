/**
 * Says what long work is doing: one line per step in a pipe, a line that moves on a terminal. Always on standard error.
 *
 * Invariant: every step that was begun ends with one whole line, done or failed, in both forms.
 */

export interface Progress {
  /** Runs the work under a title; `update` replaces the note behind it (a terminal shows it, a pipe does not). */
  step<T>(title: string, work: (update: (note: string) => void) => Promise<T>): Promise<T>;
  /** One line of its own. */
  line(text: string): void;
}

export interface ProgressStream {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

/** Seconds below a minute, else minutes and seconds. */
export function formatSeconds(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

const REDRAW_MS = 200;
/** Shorter steps do not say how long they took. */
const WORTH_SAYING_MS = 2_000;

export function createProgress(stream: ProgressStream = process.stderr, now: () => number = Date.now): Progress {
  const line = (text: string): void => void stream.write(`${text}\n`);
  if (stream.isTTY !== true) {
    return {
      line,
      async step(title, work) {
        const started = now();
        line(`${title} …`);
        try {
          const result = await work(() => {});
          const took = now() - started;
          if (took >= WORTH_SAYING_MS) line(`${title}: done in ${formatSeconds(took)}`);
          return result;
        } catch (error) {
          line(`${title}: failed after ${formatSeconds(now() - started)}`);
          throw error;
        }
      },
    };
  }
  return {
    line,
    async step(title, work) {
      const started = now();
      let note = '';
      const draw = (): void => {
        const took = now() - started;
        const text = `… ${title}${took >= WORTH_SAYING_MS ? ` ${formatSeconds(took)}` : ''}${note === '' ? '' : `  ${note}`}`;
        stream.write(`\r\u001b[2K${text.slice(0, Math.max(10, (stream.columns ?? 80) - 1))}`);
      };
      draw();
      const timer = setInterval(draw, REDRAW_MS);
      const end = (mark: string): void => {
        clearInterval(timer);
        const took = now() - started;
        stream.write(`\r\u001b[2K${mark} ${title}${took >= WORTH_SAYING_MS ? ` (${formatSeconds(took)})` : ''}\n`);
      };
      try {
        const result = await work((text) => (note = text));
        end('✓');
        return result;
      } catch (error) {
        end('✗');
        throw error;
      }
    },
  };
}
