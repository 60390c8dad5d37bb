/** What an agent is answered instead of its request being done. */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused';
  /** Of HTTP. */
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
