/**
 * What several formats share: fingerprints, runs of tokens, records as JSON, blocks of columns.
 *
 * <p>Each sub-package reads and writes one format.
 */
package io.penstock.format;
