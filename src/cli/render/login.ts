import type { LoginResult, LogoutResult } from '../../ops/index.js';
import type { Render } from './rendered.js';

export const renderLogin: Render<LoginResult> = ({ host, username, where, encrypted, asked }, style) => ({
  out: [`${style.color.green('Logged in')} to ${style.color.bold(host)} as ${username}; kept in ${where}`],
  err: [
    ...(asked ? [] : [`${host} answered without asking for a login, so that the password was not tried`]),
    ...(encrypted ? [] : ['The password is kept as it is, readable for you; a credential helper of docker would encrypt it']),
  ],
  quiet: [],
});

export const renderLogout: Render<LogoutResult> = ({ host, removed }, style) => ({
  out: [removed ? `${style.color.green('Logged out')} of ${style.color.bold(host)}` : `There was no login for ${host}`],
  err: [],
  quiet: [],
});
