// What every call of the addon may give instead of its value.

export interface FailureInfo {
  code: string;
  message: string;
  path?: string;
  osCode?: string;
  reason?: string;
  /** JSON text of an object. */
  details?: string;
}

export interface Failure {
  failure: FailureInfo;
}
