/** As a person writes them; paths count from the context's `cwd`. */
export interface ServeOptions {
  /** The layout, made when it does not exist; without it the local store. */
  readonly dir?: string;
  /** A folder that is removed at the end. */
  readonly tmp?: boolean;
  /** `HOST:PORT`; `127.0.0.1:5000` without it, and port 0 is any free one. */
  readonly listen?: string;
  /** Gets `HOST:PORT` once it answers. */
  readonly portFile?: string;
  /** Clients can change nothing; without a mirror nothing at all is written. */
  readonly readOnly?: boolean;
  readonly htpasswd?: string;
  readonly tokenFile?: string;
  /** With logins: reading needs none. */
  readonly anonymousPull?: boolean;
  /** Listens beyond this machine although nobody has to log in. */
  readonly insecureNoAuth?: boolean;
  /** PEM files. */
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  /** Registry to fetch from what is missing: `[https://]HOST[:PORT][/PREFIX]`. */
  readonly mirror?: string;
  /** Names by which clients may call it, beside addresses and localhost. */
  readonly allowHosts?: readonly string[];
  /** Names of the store with these hosts are shown, too. */
  readonly serveHosts?: readonly string[];
  /** A file, or a stream that stays open. */
  readonly accessLog?: string | NodeJS.WritableStream;
  /** `1h` without it, or `off`. */
  readonly gcInterval?: string;
  /** `7d` without it. */
  readonly uploadTtl?: string;
  /** How long a manifest without a tag is kept that is attached to nothing; for good without it. */
  readonly untaggedTtl?: string;
}
