/** Atomic files: written under a temporary name, synced, and renamed. */
package io.penstock.io.publish;
