import { type Render, shown } from './rendered.js';

export interface VersionResult {
  readonly modelport: string;
  readonly node: string;
  readonly platform: string;
}

export const renderVersion: Render<VersionResult> = ({ modelport, node, platform }) => ({
  ...shown([`modelport ${modelport} (node ${node}, ${platform})`]),
  quiet: [modelport],
});
