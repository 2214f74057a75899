import {
  assertWanted,
  createError,
  defaultLimits,
  type Finding,
  type InvokeOptions,
  isToolkitError,
  type JsonObject,
  type Limits,
  type NamedTensors,
  type RuntimeSession,
  type ToolkitError,
} from '../../core/index.js';
import { type Channel, openChannel } from '../protocol/channel.js';
import { type Frame, type FrameType, protocolVersion } from '../protocol/frame.js';
import { awaitAtMost } from './await-at-most.js';
import { brokeProtocol, crashed, failed, timedOut } from './child-failure.js';
import { type ChildProgram, type RunningChild, startChild } from './child-process.js';
import { Deadline } from './deadline.js';

export interface ChildStart {
  /** What the model is called in messages. */
  readonly location: string;
  readonly program: ChildProgram;
  /** Fields of the `load` frame. */
  readonly load: JsonObject;
  readonly findings: readonly Finding[];
  /** For hello and load together. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly onLog?: ((line: string) => void) | undefined;
  readonly limits?: Limits;
  /** How long a process that is asked to leave may take before it is killed; 2 s. */
  readonly graceMs?: number;
}

const defaultGraceMs = 2000;

/** Starts a process that speaks the protocol and has it load a model. Nothing of it is left when this throws. */
export async function startChildSession(start: ChildStart): Promise<RuntimeSession> {
  assertWanted(start.signal);
  const session = new ChildSession(start);
  await session.load();
  return session;
}

/** A process with a loaded model. After any failure but the model's own (`error`) the process is gone and the session stays failed. */
class ChildSession implements RuntimeSession {
  readonly findings: readonly Finding[];
  version = '';
  readonly #start: ChildStart;
  readonly #graceMs: number;
  readonly #child: RunningChild;
  readonly #channel: Channel;
  #calls = 0;
  #isBusy = false;
  #failure: ToolkitError | undefined;
  #ending: Promise<void> | undefined;

  constructor(start: ChildStart) {
    this.#start = start;
    this.findings = start.findings;
    this.#graceMs = start.graceMs ?? defaultGraceMs;
    this.#child = startChild(start.program, start.onLog ?? (() => {}));
    const peer = `the process of ${JSON.stringify(start.location)}`;
    this.#channel = openChannel(this.#child.fromChild, this.#child.toChild, start.limits ?? defaultLimits, peer);
  }

  log(): string {
    return this.#child.log.text();
  }

  close(): Promise<void> {
    this.#failure ??= createError('core/bug', { message: `Cannot use ${JSON.stringify(this.#start.location)}: it is closed` });
    return this.#end(this.#graceMs);
  }

  async load(): Promise<void> {
    const { location, timeoutMs, signal, load } = this.#start;
    const deadline = new Deadline(timeoutMs, signal, () => timedOut(location, 'load', timeoutMs, this.#child));
    try {
      const hello = await this.#receive(0, ['hello', 'error'], deadline);
      this.version = this.#judgeHello(hello);
      const id = await this.#send('load', load, new Map(), deadline);
      const answer = await this.#receive(id, ['end', 'error'], deadline);
      if (answer.type === 'error') throw failed(location, 'load', answer);
    } catch (error) {
      throw await this.#fail(error, { awaitEnd: true });
    }
  }

  #judgeHello(hello: Frame): string {
    if (hello.type === 'error') throw failed(this.#start.location, 'load', hello);
    const { protocol, frameworkVersion } = hello.fields;
    if (protocol !== protocolVersion) {
      throw this.#broken(`its process speaks version ${JSON.stringify(protocol)} of the protocol, expected ${protocolVersion}`);
    }
    if (typeof frameworkVersion !== 'string' || frameworkVersion.length > 200) throw this.#broken('its process does not say which version it has');
    return frameworkVersion;
  }

  async *invoke(inputs: NamedTensors, { timeoutMs, signal }: InvokeOptions): AsyncGenerator<NamedTensors, void> {
    const { location } = this.#start;
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#isBusy) throw createError('core/bug', { message: `Cannot run ${JSON.stringify(location)} twice at a time` });
    this.#isBusy = true;
    const deadline = new Deadline(timeoutMs, signal, () => timedOut(location, 'run', timeoutMs, this.#child));
    let id = 0;
    let isAnswered = false;
    try {
      id = await this.#send('infer', {}, inputs, deadline);
      for (;;) {
        const answer = await this.#receive(id, ['item', 'end', 'error'], deadline);
        isAnswered = answer.type !== 'item';
        if (answer.type === 'error') throw failed(location, 'run', answer);
        if (answer.type === 'end') return;
        yield answer.tensors;
      }
    } catch (error) {
      // The model's own failure leaves the process as it was.
      if (isAnswered) throw error;
      isAnswered = true;
      throw await this.#fail(error, { awaitEnd: false });
    } finally {
      if (!isAnswered) await this.#cancel(id);
      this.#isBusy = false;
    }
  }

  /** The caller wants no more results: the process may go on when it stops in time. */
  async #cancel(id: number): Promise<void> {
    const graceMs = this.#graceMs;
    const deadline = new Deadline(graceMs, undefined, () => timedOut(this.#start.location, 'cancel', graceMs, this.#child));
    try {
      await deadline.within(this.#channel.send({ id, type: 'cancel', fields: {}, tensors: new Map() }));
      while ((await this.#receive(id, ['item', 'end', 'error'], deadline)).type === 'item');
    } catch (error) {
      await this.#fail(error, { awaitEnd: true });
    }
  }

  async #send(type: FrameType, fields: JsonObject, tensors: NamedTensors, deadline: Deadline): Promise<number> {
    const id = ++this.#calls;
    try {
      await deadline.within(this.#channel.send({ id, type, fields, tensors }));
    } catch (error) {
      if (isToolkitError(error)) throw error;
      throw await this.#gone();
    }
    return id;
  }

  async #receive(id: number, types: readonly FrameType[], deadline: Deadline): Promise<Frame> {
    const frame = await deadline.within(this.#channel.receive()).catch((error: unknown) => {
      if (isToolkitError(error)) throw error;
    });
    if (frame === undefined) throw await this.#gone();
    if (frame.id !== id) throw this.#broken(`its process answers ${frame.id} where ${id} was asked`);
    if (!types.includes(frame.type)) throw this.#broken(`its process answers "${frame.type}", expected ${types.join(', ')}`);
    return frame;
  }

  /** The channel is closed: because the process ended, or for no good reason. */
  async #gone(): Promise<ToolkitError> {
    const exit = await awaitAtMost(this.#child.ended, goneMs);
    return exit === undefined ? this.#broken('its process closed the channel and goes on') : crashed(this.#start.location, exit, this.#child);
  }

  #broken(reason: string): ToolkitError {
    return brokeProtocol(this.#start.location, reason, this.#child);
  }

  /** Gives what is to be thrown. A process that breaks the protocol is not asked any more. */
  async #fail(error: unknown, { awaitEnd }: { awaitEnd: boolean }): Promise<unknown> {
    this.#failure ??= isToolkitError(error) ? error : createError('core/bug', { message: 'Cannot go on with a model', cause: error });
    const ending = this.#end(isToolkitError(error, 'runtime/protocol') ? 0 : this.#graceMs);
    if (awaitEnd) await ending;
    return error;
  }

  #end(graceMs: number): Promise<void> {
    this.#ending ??= this.#leave(graceMs);
    return this.#ending;
  }

  async #leave(graceMs: number): Promise<void> {
    const { toChild, fromChild, ended, exit, kill } = this.#child;
    if (graceMs > 0 && exit() === undefined) {
      if (this.#isBusy) this.#say('cancel');
      this.#say('close');
      this.#ignoreAnswers();
      await awaitAtMost(ended, graceMs);
    }
    kill();
    toChild.destroy();
    fromChild.destroy();
    await ended;
  }

  #say(type: 'cancel' | 'close'): void {
    this.#channel.send({ id: this.#calls, type, fields: {}, tensors: new Map() }).catch(() => {});
  }

  /** What it still has to say nobody wants to know, but a process that cannot say it cannot leave either. */
  #ignoreAnswers(): void {
    const readOn = async () => {
      while ((await this.#channel.receive()) !== undefined);
    };
    readOn().catch(() => {});
  }
}

/** Between the end of the channel and the end of the process. */
const goneMs = 1000;
