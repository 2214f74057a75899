import { expect, it } from 'vitest';
import { childEnvironment } from './child-environment.js';

it('passes on what a program needs, no secrets, and the one device', () => {
  const env = {
    PATH: '/bin',
    HOME: '/home/x',
    LC_ALL: 'C',
    CUDA_HOME: '/cuda',
    CUDA_VISIBLE_DEVICES: '0,1',
    LD_LIBRARY_PATH: '/lib',
    PYTHONPATH: '/code',
    PYTHONSTARTUP: '/code',
    LD_PRELOAD: '/evil',
    AWS_SECRET_ACCESS_KEY: 'x',
    MY_PATH: '/no',
    TZ: undefined,
  };
  expect(childEnvironment(env, undefined)).toEqual({
    PATH: '/bin',
    HOME: '/home/x',
    LC_ALL: 'C',
    CUDA_HOME: '/cuda',
    CUDA_VISIBLE_DEVICES: '',
    LD_LIBRARY_PATH: '/lib',
  });
  expect(childEnvironment({}, 'cpu')).toEqual({ CUDA_VISIBLE_DEVICES: '' });
  expect(childEnvironment({}, 'GPU-1234')).toEqual({ CUDA_VISIBLE_DEVICES: 'GPU-1234' });
});
