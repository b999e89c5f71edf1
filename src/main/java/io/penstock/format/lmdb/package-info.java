/** LMDB environments, read over their mapping without the library: a file that is cut or forged is refused. */
package io.penstock.format.lmdb;
