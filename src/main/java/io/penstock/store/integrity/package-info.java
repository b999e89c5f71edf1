/**
 * Whether files still hold the bytes that were written: checksums of blocks beside a file, the check of whole stores
 * by all checksums there are, and the check of what a loader reads, when it reads it.
 */
package io.penstock.store.integrity;
